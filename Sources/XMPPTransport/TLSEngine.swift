// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Which side of the handshake this is.
package enum TLSRole: Sendable, Hashable {
    /// The initiating side: the peer must prove this identity. `offersProtocol`: whether to negotiate `xmpp-client` by
    /// ALPN, which direct TLS does and STARTTLS does not (XEP-0368 §3).
    case client(ReferenceIdentity, offersProtocol: Bool)
    /// The receiving side.
    case server
}

/// TLS without a socket: ciphertext in, plaintext out, and the other way, through OpenSSL's memory BIOs.
///
/// Not thread-safe; whoever owns it keeps it on one queue.
final class TLSEngine {
    /// What a step of the handshake came to.
    enum Handshake {
        case needsInput
        case done
    }

    /// What a read came to.
    enum Reading {
        case plaintext([UInt8])
        case needsInput
        /// The peer said goodbye (close_notify).
        case ended
    }

    /// Bytes of plaintext handed over at once.
    static let maximumPlaintext = 65_536
    /// Certificates noted of what a peer has shown.
    static let maximumPath = 16
    private static let recordSize = 16_384

    let context: TLSContext
    let role: TLSRole
    /// Why the certificate was refused; set by the callback during the handshake.
    var verificationError: TLSError?
    /// SHA-256 of the key in the certificate that the peer has shown, be it refused; set by the callback.
    var presentedKey: [UInt8]?
    /// Whether the server was offered a session to resume.
    var hasOfferedSession = false
    /// Whether the peer asked to negotiate again and was refused.
    var hasRefusedRenegotiation = false

    let ssl: OpaquePointer
    /// Whose sessions this connection may resume and leave behind; `nil` for nobody's.
    let sessionKey: TLSSessionKey?
    /// What DNS says about the peer's certificate; `nil` where it says nothing.
    let dane: DANEProof?
    /// The usage of the record that the certificates match; `nil` when there is none.
    var matchedUsage: UInt8?
    /// Whether the server's key is one that the domain has named over HTTPS.
    var isProvenByDelegation = false
    private let input: OpaquePointer
    private let output: OpaquePointer
    private var matchedName: PresentedName?
    /// The certificates that lead to the peer's, its own first; of a peer that was refused, what it has shown.
    private(set) var path: [TLSCertificate] = []

    /// Prepares a connection; nothing is sent before ``advanceHandshake()``.
    ///
    /// - Parameters:
    ///   - owner: For whom sessions are resumed and kept; `nil` does without.
    ///   - dane: What DNS says about the peer's certificate.
    init(
        _ context: TLSContext, role: TLSRole, resumingFor owner: String? = nil, dane: DANEProof? = nil
    ) throws(TLSError) {
        ERR_clear_error()
        guard let ssl = SSL_new(context.handle) else {
            throw TLSError.configuration("TLS is not available: \(OpenSSLErrors.drain().text)")
        }
        guard let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem()) else {
            SSL_free(ssl)
            throw TLSError.configuration("out of memory")
        }
        // An empty input means "more will come", not "the end".
        _ = shim_BIO_set_mem_eof_return(input, -1)
        _ = shim_BIO_set_mem_eof_return(output, -1)
        SSL_set_bio(ssl, input, output)
        self.context = context
        self.role = role
        self.ssl = ssl
        self.dane = dane
        sessionKey =
            if let owner, case .client(let identity, let offersProtocol) = role {
                TLSSessionKey(owner: owner, identity: identity, offersProtocol: offersProtocol)
            } else {
                nil
            }
        self.input = input
        self.output = output
        guard SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque()) == 1 else {
            throw TLSError.configuration("out of memory")
        }
        switch role {
        case .client(let identity, let offersProtocol):
            SSL_set_connect_state(ssl)
            if let name = identity.serverName, shim_SSL_set_tlsext_host_name(ssl, name) != 1 {
                throw TLSError.configuration("the domain \(identity) is too long for TLS")
            }
            let protocols = Self.applicationProtocol.utf8
            let list = [UInt8(truncatingIfNeeded: protocols.count)] + protocols
            if offersProtocol, SSL_set_alpn_protos(ssl, list, UInt32(list.count)) != 0 {
                throw TLSError.configuration("ALPN is not available")
            }
            if let dane { try demand(dane) }
            offerSession()
        case .server:
            SSL_set_accept_state(ssl)
        }
    }

    deinit {
        SSL_free(ssl)
    }

    /// The application protocol of XMPP clients (XEP-0368 §3).
    static let applicationProtocol = "xmpp-client"

    /// Takes bytes that came from the peer.
    func feed(_ ciphertext: ArraySlice<UInt8>) {
        var rest = ciphertext
        while !rest.isEmpty {
            let piece = rest.prefix(Self.recordSize)
            let count = piece.withUnsafeBytes { BIO_write(input, $0.baseAddress, Int32(truncatingIfNeeded: $0.count)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(Int(count))
        }
    }

    /// Bytes to send to the peer; empty when there are none. Ask after every other call.
    func takeOutput() -> [UInt8] {
        let pending = BIO_ctrl_pending(output)
        guard pending > 0, let limit = Int32(exactly: pending) else { return [] }
        return [UInt8](unsafeUninitializedCapacity: pending) { buffer, count in
            count = max(0, Int(BIO_read(output, buffer.baseAddress, limit)))
        }
    }

    /// Goes on with the handshake as far as the input allows.
    ///
    /// - Throws: Why it failed; the alert for the peer is in the output.
    func advanceHandshake() throws(TLSError) -> Handshake {
        ERR_clear_error()
        let result = SSL_do_handshake(ssl)
        if result == 1 {
            try checkApplicationProtocol()
            keepEarlySession()
            return .done
        }
        if SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ { return .needsInput }
        let errors = OpenSSLErrors.drain()
        throw verificationError ?? errors.handshakeError
    }

    /// Decrypts what is there, up to ``maximumPlaintext``.
    ///
    /// - Throws: A broken channel, or a renegotiation that was asked for.
    func read() throws(TLSError) -> Reading {
        var plaintext: [UInt8] = []
        while plaintext.count < Self.maximumPlaintext {
            ERR_clear_error()
            var code: Int32 = SSL_ERROR_NONE
            let bytes = withUnsafeTemporaryAllocation(byteCount: Self.recordSize, alignment: 16) { buffer in
                let count = SSL_read(ssl, buffer.baseAddress, Int32(buffer.count))
                if count > 0 { return Array(UnsafeRawBufferPointer(rebasing: buffer.prefix(Int(count)))) }
                code = SSL_get_error(ssl, count)
                return []
            }
            if !bytes.isEmpty {
                plaintext = plaintext.isEmpty ? bytes : plaintext + bytes
                continue
            }
            if !plaintext.isEmpty { break }
            // RFC 6120 §5.3.5: a side that does not support renegotiation refuses it and ends the connection.
            if hasRefusedRenegotiation { throw TLSError.renegotiationRefused }
            switch code {
            case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .needsInput
            case SSL_ERROR_ZERO_RETURN: return .ended
            default: throw TLSError.channelFailed(reason: OpenSSLErrors.drain().text)
            }
        }
        return .plaintext(plaintext)
    }

    /// Encrypts bytes; they are then in the output.
    func write(_ plaintext: ArraySlice<UInt8>) throws(TLSError) {
        var rest = plaintext
        while !rest.isEmpty {
            ERR_clear_error()
            let piece = rest.prefix(Self.recordSize)
            let count = piece.withUnsafeBytes { SSL_write(ssl, $0.baseAddress, Int32(truncatingIfNeeded: $0.count)) }
            guard count > 0 else { throw TLSError.channelFailed(reason: OpenSSLErrors.drain().text) }
            rest = rest.dropFirst(Int(count))
        }
    }

    /// Says goodbye: the close_notify alert is then in the output.
    func sayGoodbye() {
        ERR_clear_error()
        _ = SSL_shutdown(ssl)
        ERR_clear_error()
    }

    /// Checks the certificate that was validated against the identity asked for, and notes which name proved it.
    func check(leaf: OpaquePointer, chain: OpaquePointer?) -> TLSError? {
        guard case .client(let identity, _) = role else { return nil }
        let length = notePath(chain)
        let certificate = path.first ?? CertificateReader.certificate(leaf)
        // RFC 7671 §5.1: of a key that DNS names, names and dates in the certificate say nothing.
        if isProvenByKey { return nil }
        // RFC 6120 §13.7.1.1: a server's certificate is no authority's. One that the account names as trusted itself is
        // exempt: that it is the right one is known without any path.
        let isNamedAnchor = context.usesOwnAnchors && length == 1
        if X509_check_ca(leaf) == 1, !isNamedAnchor {
            return .certificateRejected(
                subject: certificate.subject, reason: "it is a certificate authority's, not a server's")
        }
        guard let match = certificate.names.first(where: isProven(identity)) else {
            return .certificateNameMismatch(
                expected: identity.description, presented: certificate.names.map(\.description))
        }
        matchedName = match
        return nil
    }

    /// Notes the certificates that lead to the peer's, its own first.
    ///
    /// - Returns: How many there are.
    @discardableResult
    func notePath(_ chain: OpaquePointer?) -> Int {
        let length = chain.map { max(0, Int(shim_sk_X509_num($0))) } ?? 0
        path = (0..<min(length, Self.maximumPath)).compactMap { index in
            chain.flatMap { shim_sk_X509_value($0, Int32(index)) }.map(CertificateReader.certificate)
        }
        return length
    }

    /// The keys that the domain has named over HTTPS; where there are some, one of them has to be there (XEP-0487 §4).
    var delegatedKeys: Set<[UInt8]> {
        guard case .client(let identity, _) = role else { return [] }
        return identity.delegation?.pinnedKeys ?? []
    }

    /// Whether one of those keys is in the server's certificate, or in one above it (RFC 7469 §2.6).
    var isAmongDelegatedKeys: Bool {
        delegatedKeys.isEmpty || path.contains { delegatedKeys.contains($0.keyFingerprint) }
    }

    /// XEP-0368 §3: another protocol than the one offered means that somebody else is at the other end.
    private func checkApplicationProtocol() throws(TLSError) {
        guard case .client(_, let offersProtocol) = role, let selected = selectedProtocol else { return }
        guard offersProtocol, selected == Self.applicationProtocol else {
            throw TLSError.wrongApplicationProtocol(PrintableText.clean(selected))
        }
    }

    private var selectedProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &length)
        guard let name, length > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
    }

    /// What is known about the channel after the handshake.
    func properties() -> TLSProperties {
        let identity: ReferenceIdentity? = if case .client(let identity, _) = role { identity } else { nil }
        let own = context.isServer ? SSL_get_certificate(ssl) : SSL_get0_peer_certificate(ssl)
        return TLSProperties(
            version: String(cString: SSL_get_version(ssl)),
            versionNumber: UInt16(truncatingIfNeeded: SSL_version(ssl)),
            cipher: SSL_CIPHER_get_name(SSL_get_current_cipher(ssl)).map { String(cString: $0) } ?? "",
            certificates: context.isServer ? shownByClient : path,
            identity: identity,
            proof: proof,
            matchedName: matchedName,
            exporterBinding: exporter(),
            serverEndPointBinding: own.flatMap(CertificateReader.serverEndPoint),
            applicationProtocol: selectedProtocol.map(PrintableText.clean),
            isResumed: SSL_session_reused(ssl) == 1
        )
    }

    /// What a client has shown that was asked for it.
    private var shownByClient: [TLSCertificate] {
        guard SSL_get_verify_result(ssl) == X509_V_OK, let shown = SSL_get0_peer_certificate(ssl) else { return [] }
        return [CertificateReader.certificate(shown)]
    }

    /// RFC 9266 §2, §4.2: 32 bytes with an empty context; on TLS 1.2 only with extended master secret.
    private func exporter() -> [UInt8]? {
        guard SSL_version(ssl) >= TLS1_3_VERSION || shim_SSL_get_extms_support(ssl) == 1 else { return nil }
        let label = "EXPORTER-Channel-Binding"
        var bytes = [UInt8](repeating: 0, count: 32)
        let empty: [UInt8] = []
        let result = SSL_export_keying_material(ssl, &bytes, bytes.count, label, label.utf8.count, empty, 0, 1)
        return result == 1 ? bytes : nil
    }
}
