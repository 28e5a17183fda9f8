// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// Finds what cannot work in the settings of an account before they are stored, or before a connection is tried.
enum SettingsCheck {
    /// The longest name that DNS has, in bytes (RFC 1035 §2.3.4).
    static let maximumHostBytes = 253

    /// Refuses what can be no host name and no address.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/badData``.
    static func host(_ host: String) throws(ControlError) {
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
        guard host.count(where: { $0 == ":" }) != 1 else {
            throw ControlError(.badData, "\"\(name)\" is a host and a port: give the port with --port")
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
