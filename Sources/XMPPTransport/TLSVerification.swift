// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// What OpenSSL calls back during a handshake.
enum TLSVerification {
    /// Validates the peer's path and then its name, before any byte of ours is encrypted for it.
    ///
    /// OpenSSL validates the path (RFC 5280 §6): signatures, times, purpose, constraints. The name is checked here, for
    /// OpenSSL knows neither SRV-ID nor XmppAddr and looks at common names.
    static func verify(_ store: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> Int32 {
        guard let store, let engine = engine(of: store) else { return 0 }
        let isPathValid = X509_verify_cert(store) == 1
        guard isPathValid, X509_STORE_CTX_get_error(store) == X509_V_OK else {
            engine.verificationError = CertificateReader.error(of: store)
            return 0
        }
        guard let leaf = X509_STORE_CTX_get0_cert(store) else { return 0 }
        if let error = engine.check(leaf: leaf, chain: X509_STORE_CTX_get0_chain(store)) {
            engine.verificationError = error
            X509_STORE_CTX_set_error(store, X509_V_ERR_HOSTNAME_MISMATCH)
            return 0
        }
        return 1
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
