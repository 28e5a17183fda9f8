// SPDX-License-Identifier: Apache-2.0

public import XMPP
public import XMPPCore

/// A real XMPP server of a test's own: a folder, ports on 127.0.0.1, a certificate, and a process that ends with it.
///
/// ```swift
/// let server = try await ServerKind.prosody.start(accounts: ["juliet": "secret", "romeo": "orchard"])
/// let stream = XMPPStream(try server.configuration(for: "juliet"))
/// // …
/// await server.stop()
/// ```
public final class PrivateServer: Sendable {
    /// Which program it is.
    public let kind: ServerKind
    /// The domain it serves.
    public let domain: JID
    /// Where it listens.
    public var host: String { "127.0.0.1" }
    /// The port for streams that begin without TLS.
    public let port: UInt16
    /// The port for TLS from the first byte (XEP-0368).
    public let directTLSPort: UInt16
    /// The port for WebSockets inside of TLS (RFC 7395).
    public let webSocketPort: UInt16
    /// The certificate to trust, PEM; it exists until ``stop()``.
    public let certificateAuthorityFile: String
    /// The authority that has issued the server's certificate, and that it trusts where it asks clients for theirs.
    public let authority: TestAuthority
    /// Passwords by localpart.
    public let accounts: [String: String]
    /// The server's process.
    public let process: ServerProcess

    private let folder: TemporaryFolder

    init(kind: ServerKind, site: ServerSite, process: ServerProcess) {
        self.kind = kind
        domain = site.domain
        port = site.port
        directTLSPort = site.directTLSPort
        webSocketPort = site.webSocketPort
        certificateAuthorityFile = site.certificateAuthorityFile
        authority = site.authority
        accounts = site.accounts
        folder = site.folder
        self.process = process
    }

    /// The folder with the server's configuration, data and log.
    public var folderPath: String { folder.path }

    /// A configuration with which an account connects to this server.
    ///
    /// - Parameters:
    ///   - username: The account's localpart.
    ///   - password: The password to try; `nil` for the right one.
    ///   - resource: The resource to ask for; `nil` leaves the choice to the server.
    ///   - directTLS: Whether to use the port for TLS from the first byte.
    /// - Throws: ``TestSupportError`` when there is no such account.
    public func configuration(
        for username: String, password: String? = nil, resource: String? = nil, directTLS: Bool = false
    ) throws(TestSupportError) -> XMPPConfiguration {
        guard let known = password ?? accounts[username],
            let jid = try? JID(localpart: username, domainpart: domain.domainpart, resourcepart: resource)
        else { throw TestSupportError("the server has no account “\(username)”") }
        var configuration = XMPPConfiguration(jid: jid, password: Password(known))
        configuration.host = host
        configuration.port = directTLS ? directTLSPort : port
        configuration.hostSecurity = directTLS ? .directTLS : .startTLS
        configuration.certificateAuthorityFile = certificateAuthorityFile
        return configuration
    }

    /// An access token with which an account logs in (``ServerKind/Proof/accessToken``); `nil` where the server has
    /// made none.
    public func accessToken(of username: String) -> String? {
        try? VectorFile.text(of: folder.file("tokens/\(username)"))
    }

    /// A configuration with which an account connects to this server over a WebSocket.
    ///
    /// - Throws: ``TestSupportError`` when there is no such account.
    public func webSocketConfiguration(for username: String) throws(TestSupportError) -> XMPPConfiguration {
        var configuration = try configuration(for: username)
        configuration.host = nil
        configuration.port = nil
        configuration.webSocket = WebSocketAddress("wss://\(host):\(webSocketPort)\(ServerSite.webSocketPath)")
        return configuration
    }

    /// Ends the server and removes its folder. Idempotent.
    public func stop() async {
        await process.stop()
        folder.remove()
    }
}
