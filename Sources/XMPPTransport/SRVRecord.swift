// SPDX-License-Identifier: Apache-2.0

/// One SRV record (RFC 2782): where a service of a domain can be reached.
package struct SRVRecord: Sendable, Hashable {
    /// Lower numbers are tried first.
    package let priority: UInt16
    /// Share of the attempts among records of one priority.
    package let weight: UInt16
    /// TCP port.
    package let port: UInt16
    /// The host as an A-label without the final dot; empty when the service is decidedly not available.
    package let target: String

    /// Makes a record.
    package init(priority: UInt16, weight: UInt16, port: UInt16, target: String) {
        self.priority = priority
        self.weight = weight
        self.port = port
        self.target = target
    }

    /// Whether the record says "this service is not available here" (target ".").
    package var isRefusal: Bool { target.isEmpty }

    /// Reads the data of a record from a DNS answer; names in it are not compressed (RFC 2782).
    ///
    /// - Returns: `nil` when the data is malformed, or names a host with bytes that no host name has.
    package init?(wireFormat data: [UInt8]) {
        guard data.count >= 7 else { return nil }
        func number(_ index: Int) -> UInt16 { UInt16(data[index]) << 8 | UInt16(data[index + 1]) }
        guard let target = Self.hostName(data[6...]) else { return nil }
        self.init(priority: number(0), weight: number(2), port: number(4), target: target)
    }

    /// Reads a sequence of labels; `nil` when it is cut off, too long, or not a host name.
    private static func hostName(_ data: ArraySlice<UInt8>) -> String? {
        var labels: [String] = []
        var rest = data
        var total = 0
        while let length = rest.popFirst() {
            if length == 0 { return labels.joined(separator: ".") }
            let label = rest.prefix(Int(length))
            guard length <= 63, label.count == Int(length), label.allSatisfy(isHostByte) else { return nil }
            total += label.count + 1
            guard total <= 254 else { return nil }
            labels.append(String(decoding: label, as: UTF8.self).lowercased())
            rest = rest.dropFirst(label.count)
        }
        return nil
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

/// What a name server said about one service of a domain.
package enum SRVAnswer: Sendable, Hashable {
    /// There are records; at least one.
    case records([SRVRecord])
    /// The domain has no such records, or does not exist.
    case none
    /// No usable answer: why, for people.
    case failed(String)
}
