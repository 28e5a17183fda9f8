// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPTestSupport

/// One row of `Tests/Vectors/jids.tsv`.
struct JIDVector: Sendable, CustomTestStringConvertible {
    let input: [UInt8]
    let isValid: Bool
    let localpart: String?
    let domainpart: String
    let resourcepart: String?
    let reason: String

    var testDescription: String { String(String(decoding: input, as: UTF8.self).prefix(60)) + ": " + reason }

    static let all: [JIDVector] = ((try? VectorFile.rows("jids.tsv")) ?? []).map { cells in
        JIDVector(
            input: expand(cells[0]),
            isValid: cells[1] == "valid",
            localpart: cells[2].isEmpty ? nil : String(decoding: expand(cells[2]), as: UTF8.self),
            domainpart: String(decoding: expand(cells[3]), as: UTF8.self),
            resourcepart: cells[4].isEmpty ? nil : String(decoding: expand(cells[4]), as: UTF8.self),
            reason: cells[5]
        )
    }
}

/// Replaces `{U+HHHH}`, `{0xHH}` and `{N*x}` in a cell by what they stand for.
private func expand(_ cell: String) -> [UInt8] {
    var result: [UInt8] = []
    var rest = Array(cell.unicodeScalars)[...]
    while let scalar = rest.popFirst() {
        guard scalar == "{" else {
            result += Array(String(scalar).utf8)
            continue
        }
        var depth = 1
        var body = ""
        while depth > 0, let next = rest.popFirst() {
            if next == "{" { depth += 1 }
            if next == "}" { depth -= 1 }
            if depth > 0 { body.unicodeScalars.append(next) }
        }
        if body.hasPrefix("U+"), let value = UInt32(body.dropFirst(2), radix: 16), let scalar = Unicode.Scalar(value) {
            result += Array(String(scalar).utf8)
        } else if body.hasPrefix("0x"), let value = UInt8(body.dropFirst(2), radix: 16) {
            result.append(value)
        } else if let star = body.firstIndex(of: "*"), let count = Int(body[..<star]) {
            let unit = expand(String(body[body.index(after: star)...]))
            for _ in 0..<count { result += unit }
        }
    }
    return result
}
