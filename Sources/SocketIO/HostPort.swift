// SPDX-License-Identifier: Apache-2.0

/// A host, and a port where one is named, as the addresses of the web have them (RFC 3986 §3.2): `example.org`,
/// `192.0.2.1:1080`, `[2001:db8::1]:5281`.
package struct HostPort: Sendable, Hashable, CustomStringConvertible {
    /// Characters of a name at most; 253 (RFC 1035 §2.3.4).
    package static let maximumNameLength = 253

    /// A name in lower case, or an address literal without brackets.
    package let host: String
    /// The port, 1 to 65535; `nil` where none is named.
    package let port: UInt16?

    /// Puts both together, as they are.
    package init(host: String, port: UInt16?) {
        self.host = host
        self.port = port
    }

    /// Reads a host and a port.
    ///
    /// - Parameter text: A name of ASCII letters, digits, `-`, `.` and `_`, or an address literal, an IPv6 one in
    ///   brackets.
    /// - Returns: `nil` for anything else.
    package init?(_ text: some StringProtocol) {
        var host = Substring(text)
        var port: UInt16?
        if let colon = host.utf8.lastIndex(of: UInt8(ascii: ":")), !host[colon...].utf8.contains(UInt8(ascii: "]")) {
            let digits = host[host.utf8.index(after: colon)...]
            guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(digits), number > 0 else {
                return nil
            }
            port = number
            host = host[..<colon]
        }
        self.port = port
        if host.hasPrefix("["), host.hasSuffix("]") {
            let literal = String(host.dropFirst().dropLast())
            guard literal.contains(":"), SocketAddress(literal: literal, port: 0) != nil else { return nil }
            self.host = literal
        } else {
            guard (1...Self.maximumNameLength).contains(host.utf8.count), host.utf8.allSatisfy(Self.isNameByte),
                !host.hasPrefix(".")
            else { return nil }
            self.host = host.lowercased()
        }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// As it is written: brackets around an IPv6 address, no port where none is named.
    package var description: String {
        let host = host.contains(":") ? "[\(host)]" : host
        return port.map { "\(host):\($0)" } ?? host
    }
}
