// SPDX-License-Identifier: Apache-2.0

internal import SocketIO

/// The address of a proxy in the settings: `socks5://[USER[:PASSWORD]@]HOST[:PORT]`, or `http://…`.
package struct ProxyAddress: Hashable, Sendable {
    /// The kinds of proxy, as their addresses begin.
    package enum Scheme: String, Hashable, Sendable, CaseIterable {
        /// SOCKS 5 (RFC 1928); port 1080 unless the address names another.
        case socks5
        /// HTTP's CONNECT (RFC 9110 §9.3.6); port 8080 unless the address names another.
        case http

        /// The port that is meant when none is named.
        package var defaultPort: UInt16 {
            switch self {
            case .socks5: 1_080
            case .http: 8_080
            }
        }
    }

    /// Bytes of an address at most; 2,048.
    package static let maximumBytes = 2_048

    /// What it speaks.
    package let scheme: Scheme
    /// Its host: a name in lower case, or an address literal without brackets.
    package let host: String
    /// Its port.
    package let port: UInt16
    /// Who asks.
    package let username: String?
    /// The password for that name: a secret.
    package let password: String?

    /// Reads an address. In name and password `%` and two digits stand for a byte (RFC 3986 §2.1).
    ///
    /// - Parameter text: The address; `socks5h`, by which others say that names are looked up at the other end, is
    ///   `socks5`.
    /// - Returns: `nil` when it is none.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.maximumBytes, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            let mark = text.firstRange(of: "://")
        else { return nil }
        let word = text[..<mark.lowerBound].lowercased()
        guard let scheme = Scheme(rawValue: word == "socks5h" ? "socks5" : word) else { return nil }
        var rest = text[mark.upperBound...]
        if rest.hasSuffix("/") { rest.removeLast() }
        guard !rest.contains(where: { "/?#".contains($0) }) else { return nil }
        var login: Substring?
        if let at = rest.utf8.lastIndex(of: UInt8(ascii: "@")) {
            login = rest[..<at]
            rest = rest[rest.utf8.index(after: at)...]
        }
        guard let place = HostPort(rest) else { return nil }
        self.scheme = scheme
        host = place.host
        port = place.port ?? scheme.defaultPort
        guard let login else {
            (username, password) = (nil, nil)
            return
        }
        let words = login.unicodeScalars.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            .map { Substring($0) }
        guard let name = words.first.flatMap(Self.decoded), !name.isEmpty else { return nil }
        username = name
        guard words.count > 1 else {
            password = nil
            return
        }
        guard let secret = Self.decoded(words[1]) else { return nil }
        password = secret
    }

    /// The address without the password, as it may be shown.
    package var publicText: String {
        let user = username.map { Self.encoded($0) + "@" } ?? ""
        return "\(scheme.rawValue)://\(user)\(HostPort(host: host, port: port))"
    }

    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, !digits.contains(UInt8(ascii: "+")), !digits.contains(UInt8(ascii: "-")),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func encoded(_ text: String) -> String {
        text.utf8.reduce(into: "") { result, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
    }
}
