// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

extension AccountSession {
    /// Looks a secret up. A command may run for a while: not on a thread that others wait for.
    func lookUp(
        _ source: @escaping @Sendable () throws(ControlError) -> String?
    ) async throws(ControlError) -> String? {
        let found = await Background.run { () -> Result<String?, ControlError> in
            do throws(ControlError) {
                return .success(try source())
            } catch {
                return .failure(error)
            }
        }
        return try found.get()
    }

    /// The password: what the user gave, else what the daemon may look up.
    ///
    /// - Parameter isRequired: Whether there is nothing else to log in with.
    func findPassword(isRequired: Bool) async throws(ControlError) -> Password? {
        if let password { return password }
        let (passwords, account) = (passwords, account)
        let found = try await lookUp { () throws(ControlError) in try passwords.password(of: account) }
        guard let text = found else {
            guard isRequired else { return nil }
            throw ControlError(
                .passwordNeeded,
                "no password for \(name); run: jabberctl account passwd, or give one with --password-fd", account: name)
        }
        let password = Password(text)
        self.password = password
        return password
    }

    /// The account's proxy, with the password that a command gives.
    func findProxy() async throws(ControlError) -> ConnectionProxy? {
        if let proxy { return proxy }
        guard let address = account.proxy.flatMap(ProxyAddress.init) else { return nil }
        let (passwords, account) = (passwords, account)
        let password = try await lookUp { () throws(ControlError) in try passwords.proxyPassword(of: account) }
        proxy = ConnectionProxy(address, password: password)
        return proxy
    }
}

// MARK: What is logged in with beside a password

extension AccountConfiguration {
    /// Whether another attempt may bring another access token.
    var renewsProof: Bool { accessTokenCommand != nil }
}

extension AccountSession {
    /// The access token of the moment: the one that the user gave; one that a command prints is asked for at each
    /// login, as such tokens do not last.
    func findAccessToken() async throws(ControlError) -> Password? {
        if let token { return token }
        let (passwords, account) = (passwords, account)
        return try await lookUp { () throws(ControlError) in try passwords.accessToken(of: account) }.map {
            Password($0)
        }
    }

    /// The certificate to show, read anew at each login, as it may have been renewed.
    func findCertificate() async throws(ControlError) -> ClientCertificate? {
        guard let path = account.certificate else { return nil }
        let bytes = try Self.proof(at: path)
        // PKCS #12 is DER, which begins with a sequence; PEM is text.
        guard bytes.first == 0x30 else {
            let key = if let path = account.key { try Self.proof(at: path) } else { bytes }
            return .pem(certificate: bytes, key: key)
        }
        guard account.key == nil else {
            throw ControlError(
                .configuration, "\(path) is PKCS #12 with the key in it: leave \"key\" out", account: name)
        }
        let (passwords, account) = (passwords, account)
        let password = try await lookUp { () throws(ControlError) in try passwords.certificatePassword(of: account) }
        return .pkcs12(bytes, password: password.map { Password($0) })
    }

    /// A file of a certificate or of its key. One with a private key in it must be the user's alone.
    private static func proof(at path: String) throws(ControlError) -> [UInt8] {
        guard let contents = try PrivateFile.read(path) else {
            throw ControlError(.fileMissing, "there is no \(path), which the settings name")
        }
        let isSecret =
            contents.bytes.first == 0x30 || contents.bytes.firstRange(of: Array("PRIVATE KEY-----".utf8)) != nil
        guard !isSecret || contents.mode & 0o077 == 0 else {
            throw ControlError(
                .permissions, "\(path) holds a private key and others may read it; run: chmod 600 '\(path)'")
        }
        return contents.bytes
    }

    /// Goes on with a session whose connection was lost.
    ///
    /// - Returns: `nil` where the access token was refused that the stream had: a stream with a new one may go on with
    ///   the session.
    func comeBackOrRenew(_ stream: XMPPStream) async throws(ControlError) -> XMPPStream? {
        do throws(ControlError) {
            return try await comeBack(stream)
        } catch {
            guard error.code == .authRefused, account.renewsProof else { throw error }
            return nil
        }
    }
}
