// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPCrypto
internal import XMPPTransport

/// A certificate with its key, by which a client shows who it is (SASL EXTERNAL, XEP-0178).
public struct ClientCertificate: Sendable {
    /// What TLS is told.
    let identity: TLSIdentity

    /// A certificate and its key from files in PEM form.
    ///
    /// - Parameters:
    ///   - certificateFile: The certificate, and the chain above it.
    ///   - keyFile: The private key, not encrypted; may be the same file.
    public static func pem(certificateFile: String, keyFile: String) -> ClientCertificate {
        ClientCertificate(identity: .pem(certificate: .file(certificateFile), privateKey: .file(keyFile)))
    }

    /// A certificate and its key in PEM form.
    ///
    /// - Parameters:
    ///   - certificate: The certificate, and the chain above it.
    ///   - key: The private key, not encrypted.
    public static func pem(certificate: [UInt8], key: [UInt8]) -> ClientCertificate {
        ClientCertificate(identity: .pem(certificate: .bytes(certificate), privateKey: .bytes(key)))
    }

    /// A certificate and its key in PKCS #12, the content of a `.p12` or `.pfx` file.
    ///
    /// - Parameters:
    ///   - bytes: The content of the file.
    ///   - password: What it is encrypted with; `nil` for nothing.
    public static func pkcs12(_ bytes: [UInt8], password: Password?) -> ClientCertificate {
        let secret = password?.secret.withUnsafeBytes { Array($0) } ?? []
        return ClientCertificate(identity: .pkcs12(bytes, password: secret))
    }
}
