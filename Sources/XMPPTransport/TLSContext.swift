// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Which certificate authorities are trusted.
package enum TrustAnchors: Sendable, Hashable {
    /// The system's: the hashed folder of the distribution, or OpenSSL's default paths where there is none.
    case system
    /// Those in a PEM file, in place of the system's.
    case file(String)
    /// Those in PEM text, in place of the system's.
    case pem([UInt8])
    /// None: a server is the right one when its key is one of these, whoever signed its certificate, whatever it is
    /// made out to, and however old it is. SHA-256 of a key as certificates hold it (SubjectPublicKeyInfo), as in a
    /// TLSA record `3 1 1` (RFC 7671 §5.1); 32 bytes each.
    case keys(Set<[UInt8]>)
}

/// A certificate or a key in PEM form.
package enum PEMSource: Sendable, Hashable {
    /// A file's path.
    case file(String)
    /// The text itself.
    case bytes([UInt8])
}

/// What a client shows of itself to a server that asks (SASL EXTERNAL).
package enum TLSIdentity: Sendable, Hashable {
    /// A certificate, the chain above it, and the key, not encrypted.
    case pem(certificate: PEMSource, privateKey: PEMSource)
    /// All of it in PKCS #12, with the password that it is encrypted with.
    case pkcs12([UInt8], password: [UInt8])
}

/// Settings that client and server share; the defaults are what a client on the open internet needs.
package struct TLSSettings: Sendable, Hashable {
    /// Versions of TLS.
    package enum Version: Sendable, Hashable, CaseIterable {
        /// TLS 1.0, 1.1: only a test's server offers them.
        case tls10, tls11
        /// TLS 1.2, 1.3.
        case tls12, tls13
    }

    /// The oldest version accepted. Default TLS 1.2.
    package var minimumVersion = Version.tls12
    /// The newest version offered. Default: no bound.
    package var maximumVersion: Version?
    /// OpenSSL's security level: 2 refuses SHA-1 signatures and RSA keys under 2,048 bits. Default 2.
    package var securityLevel: Int32 = 2
    /// Cipher suites for TLS 1.2 in OpenSSL's notation; `nil` keeps the library's default.
    package var cipherList: String?
    /// Application protocols a server accepts, the best first. Default `xmpp-client`.
    package var serverProtocols = ["xmpp-client"]

    /// Makes the default settings.
    package init() {}
}

/// One configuration of TLS, made once and shared by every connection that uses it (OpenSSL's `SSL_CTX`).
///
/// Unchecked: an `SSL_CTX` is safe to use from many threads once it is configured, and it is not changed after `init`.
package final class TLSContext: @unchecked Sendable {
    /// Where Debian keeps the hashed folder of trusted authorities: 0.3 ms to use; the bundle file costs 30 ms to read.
    static let hashedFolder = "/etc/ssl/certs"

    let handle: OpaquePointer
    let isServer: Bool
    let usesOwnAnchors: Bool
    /// The keys that servers are known by; `nil` where authorities vouch for them.
    let pinnedKeys: Set<[UInt8]>?
    let settings: TLSSettings
    /// The sessions that servers are ready to resume.
    let sessions = TLSSessionCache()

    /// A context for clients.
    ///
    /// - Parameters:
    ///   - trust: Which authorities to trust. Default: the system's.
    ///   - identity: What to show of oneself to a server that asks; nothing unless given.
    ///   - settings: Versions and strength.
    /// - Throws: ``TLSError/configuration(_:)`` when the authorities or the identity cannot be read.
    package static func client(
        trust: TrustAnchors = .system, identity: TLSIdentity? = nil, settings: TLSSettings = TLSSettings()
    ) throws(TLSError) -> TLSContext {
        let pinnedKeys: Set<[UInt8]>? = if case .keys(let keys) = trust { keys } else { nil }
        let context = try TLSContext(
            isServer: false, usesOwnAnchors: trust != .system, pinnedKeys: pinnedKeys, settings)
        try context.load(trust)
        if let identity { try context.use(identity) }
        SSL_CTX_set_verify(context.handle, SSL_VERIFY_PEER, nil)
        _ = SSL_CTX_dane_enable(context.handle)
        let caching = SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_LOOKUP | SSL_SESS_CACHE_NO_INTERNAL_STORE
        _ = shim_SSL_CTX_set_session_cache_mode(context.handle, Int(caching))
        SSL_CTX_sess_set_new_cb(context.handle) { TLSVerification.keepSession($0, $1) }
        SSL_CTX_set_cert_verify_callback(context.handle, { TLSVerification.verify($0, $1) }, nil)
        let parameters = SSL_CTX_get0_param(context.handle)
        _ = X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_SERVER)
        // Whoever names a CA file trusts what is in it, an intermediate or a server's own certificate included.
        if context.usesOwnAnchors {
            _ = X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN))
        }
        return context
    }

    /// A context for servers.
    ///
    /// - Parameters:
    ///   - certificate: The server's certificate and the chain above it, PEM.
    ///   - privateKey: Its key, PEM, not encrypted.
    ///   - clientAuthorities: Whose certificates clients are asked for, PEM; they may show none. `nil` asks for none.
    ///   - settings: Versions and strength.
    /// - Throws: ``TLSError/configuration(_:)`` when one cannot be read or the two do not belong together.
    package static func server(
        certificate: PEMSource, privateKey: PEMSource, clientAuthorities: [UInt8]? = nil,
        settings: TLSSettings = TLSSettings()
    ) throws(TLSError) -> TLSContext {
        let context = try TLSContext(isServer: true, usesOwnAnchors: false, settings)
        try context.use(certificate: certificate, privateKey: privateKey)
        if let clientAuthorities {
            try context.load(.pem(clientAuthorities))
            SSL_CTX_set_verify(context.handle, SSL_VERIFY_PEER, nil)
            // Without a name for what clients come back to, OpenSSL refuses those who do and may have shown a
            // certificate.
            let name = Array("swift-xmpp".utf8)
            _ = SSL_CTX_set_session_id_context(context.handle, name, UInt32(name.count))
        }
        SSL_CTX_set_alpn_select_cb(
            context.handle,
            { ssl, chosen, length, offered, offeredLength, _ in
                TLSVerification.selectProtocol(ssl, chosen, length, offered, offeredLength)
            }, nil)
        return context
    }

    private init(
        isServer: Bool, usesOwnAnchors: Bool, pinnedKeys: Set<[UInt8]>? = nil, _ settings: TLSSettings
    ) throws(TLSError) {
        guard let handle = SSL_CTX_new(isServer ? TLS_server_method() : TLS_client_method()) else {
            throw TLSError.configuration("TLS is not available: \(OpenSSLErrors.drain().text)")
        }
        self.handle = handle
        self.isServer = isServer
        self.usesOwnAnchors = usesOwnAnchors
        self.pinnedKeys = pinnedKeys
        self.settings = settings
        SSL_CTX_set_security_level(handle, settings.securityLevel)
        var isSet = shim_SSL_CTX_set_min_proto_version(handle, settings.minimumVersion.number) == 1
        if let newest = settings.maximumVersion {
            isSet = shim_SSL_CTX_set_max_proto_version(handle, newest.number) == 1 && isSet
        }
        if let ciphers = settings.cipherList { isSet = SSL_CTX_set_cipher_list(handle, ciphers) == 1 && isSet }
        guard isSet else { throw TLSError.configuration("TLS settings refused: \(OpenSSLErrors.drain().text)") }
        _ = SSL_CTX_set_options(handle, shim_SSL_OP_NO_COMPRESSION() | shim_SSL_OP_NO_RENEGOTIATION())
        _ = shim_SSL_CTX_set_mode(handle, Int(SSL_MODE_RELEASE_BUFFERS))
        _ = shim_SSL_CTX_set_session_cache_mode(handle, Int(SSL_SESS_CACHE_OFF))
        shim_SSL_CTX_set_read_ahead(handle, 1)
        SSL_CTX_set_info_callback(handle) { TLSVerification.noteAlert($0, $1, $2) }
    }

    deinit {
        SSL_CTX_free(handle)
    }

    private func load(_ trust: TrustAnchors) throws(TLSError) {
        ERR_clear_error()
        switch trust {
        case .system:
            let isLoaded =
                HashedFolder.isUsable(Self.hashedFolder)
                ? SSL_CTX_load_verify_locations(handle, nil, Self.hashedFolder)
                : SSL_CTX_set_default_verify_paths(handle)
            guard isLoaded == 1 else {
                throw TLSError.configuration("the system's trusted certificates cannot be read")
            }
        case .file(let path):
            guard SSL_CTX_load_verify_locations(handle, path, nil) == 1 else {
                throw TLSError.configuration("cannot read CA certificates from \(path): \(OpenSSLErrors.drain().text)")
            }
        case .pem(let bytes):
            let store = SSL_CTX_get_cert_store(handle)
            let certificates = try PEM.certificates(bytes)
            for certificate in certificates {
                let isAdded = withExtendedLifetime(certificate) { X509_STORE_add_cert(store, certificate.handle) }
                guard isAdded == 1 else {
                    throw TLSError.configuration("a CA certificate is unusable: \(OpenSSLErrors.drain().text)")
                }
            }
        case .keys:
            break
        }
    }

    private func use(_ identity: TLSIdentity) throws(TLSError) {
        switch identity {
        case .pem(let certificate, let privateKey):
            try use(certificate: certificate, privateKey: privateKey)
        case .pkcs12(let bytes, let password):
            let contents = try PKCS12.read(bytes, password: password)
            let isUsed = withExtendedLifetime(contents) {
                SSL_CTX_use_certificate(handle, contents.certificate.handle) == 1
                    && contents.chain.allSatisfy { addToChain($0) == 1 }
                    && SSL_CTX_use_PrivateKey(handle, contents.key.handle) == 1
                    && SSL_CTX_check_private_key(handle) == 1
            }
            guard isUsed else {
                throw TLSError.configuration("the client certificate is unusable: \(OpenSSLErrors.drain().text)")
            }
        }
    }

    private func use(certificate: PEMSource, privateKey: PEMSource) throws(TLSError) {
        ERR_clear_error()
        switch certificate {
        case .file(let path):
            guard SSL_CTX_use_certificate_chain_file(handle, path) == 1 else {
                throw TLSError.configuration("cannot read a certificate from \(path): \(OpenSSLErrors.drain().text)")
            }
        case .bytes(let bytes):
            let chain = try PEM.certificates(bytes)
            for (index, certificate) in chain.enumerated() {
                let isUsed = withExtendedLifetime(certificate) {
                    index == 0 ? SSL_CTX_use_certificate(handle, certificate.handle) : addToChain(certificate)
                }
                guard isUsed == 1 else {
                    throw TLSError.configuration("the certificate is unusable: \(OpenSSLErrors.drain().text)")
                }
            }
        }
        let isKeyRead: Bool
        switch privateKey {
        case .file(let path):
            isKeyRead = SSL_CTX_use_PrivateKey_file(handle, path, SSL_FILETYPE_PEM) == 1
        case .bytes(let bytes):
            let key = try PEM.privateKey(bytes)
            // Without this the key may be freed before OpenSSL has taken its own reference.
            isKeyRead = withExtendedLifetime(key) { SSL_CTX_use_PrivateKey(handle, key.handle) == 1 }
        }
        guard isKeyRead, SSL_CTX_check_private_key(handle) == 1 else {
            throw TLSError.configuration(
                "the private key is unreadable or belongs to another certificate: \(OpenSSLErrors.drain().text)")
        }
    }

    /// `SSL_CTX_add1_chain_cert`: the certificate is sent along, and referenced by OpenSSL.
    private func addToChain(_ certificate: X509Handle) -> Int32 {
        Int32(SSL_CTX_ctrl(handle, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer(certificate.handle)))
    }
}

extension TLSSettings.Version {
    var number: Int32 {
        switch self {
        case .tls10: TLS1_VERSION
        case .tls11: TLS1_1_VERSION
        case .tls12: TLS1_2_VERSION
        case .tls13: TLS1_3_VERSION
        }
    }
}
