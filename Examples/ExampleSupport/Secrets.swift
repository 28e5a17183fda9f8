// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import XMPP

/// Where passwords come from. Never from the command line: everybody on the machine can read that.
enum Secrets {
    /// How long a password may be, in bytes.
    private static let maximumLength = 4_096

    /// The first line from a descriptor, else the variable `XMPP_PASSWORD`.
    static func password(from descriptor: Int32?) throws -> Password {
        if let descriptor { return Password(utf8: try firstLine(of: descriptor)) }
        guard let text = getenv("XMPP_PASSWORD") else {
            throw UsageError("no password: set XMPP_PASSWORD or give --password-fd N")
        }
        return Password(String(cString: text))
    }

    private static func firstLine(of descriptor: Int32) throws -> [UInt8] {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw UsageError("no password can be read from descriptor \(descriptor)") }
            if count == 0 || byte == UInt8(ascii: "\n") { return line }
            guard line.count < maximumLength else { throw UsageError("the password has over \(maximumLength) bytes") }
            line.append(byte)
        }
    }
}
