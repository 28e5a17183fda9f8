// SPDX-License-Identifier: Apache-2.0

public import XMPP
internal import XMPPCore

extension LoopbackServer {
    /// A configuration with which an account connects to this server: address, port and certificate authority filled
    /// in.
    ///
    /// - Parameters:
    ///   - username: The account's localpart.
    ///   - password: The password to try; `nil` for the right one.
    ///   - resource: The resource to ask for; `nil` leaves the choice to the server.
    ///   - directTLS: Whether to use the port for TLS from the first byte.
    /// - Throws: ``TestSupportError`` when there is no such account, or no such port.
    public func configuration(
        for username: String, password: String? = nil, resource: String? = nil, directTLS: Bool = false
    ) throws(TestSupportError) -> XMPPConfiguration {
        guard let account = router.account(named: username), let known = password ?? account.password else {
            throw TestSupportError("the loopback server has no account “\(username)” with a password")
        }
        let jid: JID
        do throws(JIDError) {
            jid = if let resource { try account.jid.withResource(resource) } else { account.jid }
        } catch {
            throw TestSupportError("“\(resource ?? "")” cannot be a resource: \(error)")
        }
        var configuration = XMPPConfiguration(jid: jid, password: Password(known))
        configuration.host = host
        configuration.port = port
        configuration.certificateAuthorityFile = certificateAuthorityFile
        if directTLS {
            guard let directTLSPort else { throw TestSupportError("the loopback server has no port for direct TLS") }
            configuration.port = directTLSPort
            configuration.hostSecurity = .directTLS
        }
        return configuration
    }

    /// A configuration with which somebody connects who has no account yet, for `AccountRegistration`.
    public var visitorConfiguration: XMPPConfiguration {
        var configuration = XMPPConfiguration(jid: domain, password: nil)
        configuration.host = host
        configuration.port = port
        configuration.certificateAuthorityFile = certificateAuthorityFile
        return configuration
    }

    /// A configuration with which an account connects to this server over a WebSocket.
    ///
    /// - Parameters:
    ///   - username: The account's localpart.
    ///   - resource: The resource to ask for; `nil` leaves the choice to the server.
    /// - Throws: ``TestSupportError`` when there is no such account, or no port for WebSockets.
    public func webSocketConfiguration(
        for username: String, resource: String? = nil
    ) throws(TestSupportError) -> XMPPConfiguration {
        var configuration = try configuration(for: username, resource: resource)
        configuration.host = nil
        configuration.port = nil
        guard let webSocketPort,
            let address = WebSocketAddress("wss://\(host):\(webSocketPort)\(router.options.webSocketPath)")
        else { throw TestSupportError("the loopback server has no port for WebSockets") }
        configuration.webSocket = address
        return configuration
    }
}
