// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// What OpenSSL calls back during a handshake.
enum TLSVerification {
    /// Validates the peer's path and then its name, before any byte of ours is encrypted for it.
    ///
    /// OpenSSL validates the path (RFC 5280 §6): signatures, times, purpose, constraints. The name is checked here, for
    /// OpenSSL knows neither SRV-ID nor XmppAddr and looks at common names.
    ///
    /// Where the account pins keys, the key alone counts (RFC 7671 §5.1): it is the one proof, and needs no other.
    /// Where the domain has named keys over HTTPS, one of them has to be there, and is enough where it is the server's
    /// own (XEP-0487 §4).
    static func verify(_ store: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> Int32 {
        guard let store, let engine = engine(of: store) else { return 0 }
        return isAccepted(store, by: engine) ? 1 : 0
    }

    private static func isAccepted(_ store: OpaquePointer, by engine: TLSEngine) -> Bool {
        guard let leaf = X509_STORE_CTX_get0_cert(store) else { return false }
        engine.presentedKey = CertificateReader.keyFingerprint(leaf)
        if let pinned = engine.context.pinnedKeys {
            engine.notePath(X509_STORE_CTX_get0_untrusted(store))
            guard let key = engine.presentedKey, pinned.contains(key) else {
                engine.verificationError = .keyNotPinned(presented: engine.presentedKey ?? [], pinned: pinned)
                X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED)
                return false
            }
            return true
        }
        engine.isProvenByDelegation = engine.presentedKey.map(engine.delegatedKeys.contains) == true
        if engine.isProvenByDelegation {
            engine.notePath(X509_STORE_CTX_get0_untrusted(store))
            return true
        }
        let isPathValid = X509_verify_cert(store) == 1
        guard isPathValid, X509_STORE_CTX_get_error(store) == X509_V_OK else {
            engine.verificationError = CertificateReader.error(of: store)
            engine.notePath(X509_STORE_CTX_get0_untrusted(store))
            return false
        }
        engine.noteMatchedRecord()
        if let error = engine.check(leaf: leaf, chain: X509_STORE_CTX_get0_chain(store)) {
            engine.verificationError = error
            X509_STORE_CTX_set_error(store, X509_V_ERR_HOSTNAME_MISMATCH)
            return false
        }
        guard engine.isAmongDelegatedKeys else {
            engine.verificationError = .keyNotPinned(
                presented: engine.presentedKey ?? [], pinned: engine.delegatedKeys)
            X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED)
            return false
        }
        return true
    }

    /// Validates the certificates of the session that a connection is about to offer, as they are validated when a
    /// server shows them.
    static func isStillAccepted(by engine: TLSEngine) -> Bool {
        guard let leaf = SSL_get0_peer_certificate(engine.ssl), let store = X509_STORE_CTX_new() else { return false }
        defer { X509_STORE_CTX_free(store) }
        let anchors = SSL_CTX_get_cert_store(engine.context.handle)
        guard X509_STORE_CTX_init(store, anchors, leaf, SSL_get_peer_cert_chain(engine.ssl)) == 1,
            X509_STORE_CTX_set_default(store, "ssl_server") == 1
        else { return false }
        if engine.dane != nil { X509_STORE_CTX_set0_dane(store, SSL_get0_dane(engine.ssl)) }
        let parameters = X509_STORE_CTX_get0_param(store)
        X509_VERIFY_PARAM_set_auth_level(parameters, SSL_get_security_level(engine.ssl))
        guard X509_VERIFY_PARAM_set1(parameters, SSL_get0_param(engine.ssl)) == 1 else { return false }
        return isAccepted(store, by: engine)
    }

    /// Keeps a session that the server is ready to resume.
    ///
    /// - Returns: 0: OpenSSL's own reference stays its own.
    static func keepSession(_ ssl: OpaquePointer?, _ session: OpaquePointer?) -> Int32 {
        if let ssl, let session, let engine = engine(ofConnection: ssl) { engine.keep(session) }
        return 0
    }

    /// Notes an alert of ours that says "no renegotiation": the peer asked for one.
    static func noteAlert(_ ssl: OpaquePointer?, _ location: Int32, _ value: Int32) {
        guard location & SSL_CB_ALERT != 0, location & SSL_CB_WRITE != 0, value & 0xFF == SSL_AD_NO_RENEGOTIATION,
            let ssl, let engine = engine(ofConnection: ssl)
        else { return }
        engine.hasRefusedRenegotiation = true
    }

    /// Chooses the application protocol on the server's side (RFC 7301 §3.2).
    static func selectProtocol(
        _ ssl: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
        _ chosenLength: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?, _ offeredLength: UInt32
    ) -> Int32 {
        guard let ssl, let engine = engine(ofConnection: ssl), let offered, let chosen, let chosenLength else {
            return SSL_TLSEXT_ERR_NOACK
        }
        var index = 0
        let end = Int(offeredLength)
        while index < end {
            let length = Int(offered[index])
            guard index + 1 + length <= end else { return SSL_TLSEXT_ERR_ALERT_FATAL }
            let name = UnsafeBufferPointer(start: offered + index + 1, count: length)
            if engine.context.settings.serverProtocols.contains(String(decoding: name, as: UTF8.self)) {
                chosen.pointee = offered + index + 1
                chosenLength.pointee = UInt8(length)
                return SSL_TLSEXT_ERR_OK
            }
            index += 1 + length
        }
        return SSL_TLSEXT_ERR_NOACK
    }

    private static func engine(of store: OpaquePointer) -> TLSEngine? {
        guard let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()) else { return nil }
        return engine(ofConnection: OpaquePointer(ssl))
    }

    /// The engine whose connection this is. It outlives the connection, so the reference is not counted.
    private static func engine(ofConnection ssl: OpaquePointer) -> TLSEngine? {
        SSL_get_ex_data(ssl, 0).map { Unmanaged<TLSEngine>.fromOpaque($0).takeUnretainedValue() }
    }
}
