// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// Finds what cannot work in the settings of an account before they are stored, or before a connection is tried.
enum SettingsCheck {
    /// The longest name that DNS has, in bytes (RFC 1035 §2.3.4).
    static let maximumHostBytes = 253
    /// The longest address of a WebSocket, in bytes; 2,048.
    static let maximumAddressBytes = 2_048

    /// Refuses what can be no host name, no address, and no address of a WebSocket.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/badData``.
    static func host(_ host: String) throws(ControlError) {
        if host.contains("://") { return try webSocket(host) }
        let name = TerminalText.line(host)
        guard !host.isEmpty, host.utf8.count <= maximumHostBytes else {
            throw ControlError(
                .badData, host.isEmpty ? "the host is empty" : "the host is longer than \(maximumHostBytes) bytes")
        }
        let isName = host.unicodeScalars.allSatisfy { scalar in
            scalar.value > 0x20 && scalar.value != 0x7F && !scalar.properties.isWhitespace
                && !"/@\"'<>[]?#\\".unicodeScalars.contains(scalar)
        }
        guard isName else { throw ControlError(.badData, "\"\(name)\" is neither the name of a host nor an address") }
        // An IPv6 address has two at least.
        guard host.utf8.count(where: { $0 == UInt8(ascii: ":") }) != 1 else {
            throw ControlError(.badData, "\"\(name)\" is a host and a port: give the port with --port")
        }
    }

    /// Refuses what can be no address of a WebSocket inside of TLS (RFC 6455 §3); the daemon looks closer.
    private static func webSocket(_ address: String) throws(ControlError) {
        let rest = address.dropFirst("wss://".count)
        let host = rest.prefix { !"/?#".contains($0) }
        let isAddress =
            address.utf8.count <= maximumAddressBytes && address.lowercased().hasPrefix("wss://")
            && address.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } && !host.isEmpty && !host.contains("@")
            && !rest.contains("#")
        guard isAddress else {
            throw ControlError(
                .badData,
                "\"\(TerminalText.line(address))\" is no address of a WebSocket inside of TLS; one looks like "
                    + "wss://example.org/xmpp-websocket")
        }
    }

    /// Refuses what can be no address of a proxy, and one with a password, which anybody could read there.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/badData``, or ``ControlErrorCode/usage`` for a password.
    static func proxy(_ text: String) throws(ControlError) {
        guard let address = ProxyAddress(text) else {
            // What is there may be a password.
            throw ControlError(
                .badData, "the address of a proxy is like socks5://127.0.0.1:9050 or http://proxy.example:8080")
        }
        guard address.password == nil else {
            throw ControlError(
                .usage,
                "other programs can see the password of a proxy here: put it into \"proxy\" of the settings file, or give "
                    + "a program that prints it with: jabberctl account set --proxy-password-command")
        }
    }

    /// Refuses a file of a certificate or key that is missing; the daemon looks closer.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/fileMissing`` or `inputOutput`.
    static func proof(_ path: String, _ option: String) throws(ControlError) {
        guard try PrivateFile.read(path) != nil else {
            throw ControlError(.fileMissing, "there is no \(path), which --\(option) names")
        }
    }

    /// Refuses a file of trust anchors that is missing, or that holds none.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/fileMissing``, ``ControlErrorCode/badData`` or `inputOutput`.
    static func anchors(_ path: String) throws(ControlError) {
        guard let contents = try PrivateFile.read(path) else {
            throw ControlError(.fileMissing, "there is no \(path), which --ca names")
        }
        // RFC 7468 §5; the other is OpenSSL's own.
        let text = String(decoding: contents.bytes, as: UTF8.self)
        let isPEM = ["", "TRUSTED ", "X509 "].contains { text.contains("-----BEGIN \($0)CERTIFICATE-----") }
        guard isPEM else { throw ControlError(.badData, "\(path), which --ca names, holds no certificate in PEM form") }
    }
}
