// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// An account of the settings as the library wants it.
struct SessionSettings: Sendable {
    /// The bare address.
    let jid: JID
    /// Everything but the password.
    let configuration: XMPPConfiguration
    /// Whether a password is needed: an address without localpart logs in without an account (SASL ANONYMOUS).
    var needsPassword: Bool { jid.localpart != nil }

    /// - Throws: `ControlError` with ``ControlErrorCode/badJID`` or ``ControlErrorCode/configuration``.
    init(_ account: AccountConfiguration) throws(ControlError) {
        var address = try Parameters.jid(account.jid)
        if let resource = account.resource {
            do {
                address = try address.withResource(resource)
            } catch {
                throw ControlError(error)
            }
        }
        var configuration = XMPPConfiguration(jid: address, password: nil)
        configuration.certificateAuthorityFile = account.ca
        if let host = account.host, host.contains("://") {
            configuration.webSocket = try Self.webSocket(host, account)
        } else if account.host != nil || account.port != nil || account.tls != nil {
            // A port or a kind of TLS alone means the domain's own host.
            configuration.host = account.host ?? address.asciiDomain
            configuration.hostSecurity = account.tls == .direct ? .directTLS : .startTLS
        }
        if let port = account.port, configuration.webSocket == nil {
            guard let number = UInt16(exactly: port), number > 0 else {
                throw ControlError(.configuration, "the port must be from 1 to 65535")
            }
            configuration.port = number
        }
        configuration.proxy = account.proxy.flatMap(ProxyAddress.init).map {
            ConnectionProxy($0, password: $0.password)
        }
        configuration.asksWebForPlaces = account.hostMeta != .never
        if account.isKnownByKey {
            guard !account.pins.isEmpty else {
                throw ControlError(
                    .configuration, "the server is to be known by its key, and none is named; name one with --pin")
            }
            configuration.trust = .keys(account.pins.compactMap { KeyFingerprint($0) })
        } else if account.trust == .dane {
            configuration.trust = .dane
        }
        configuration.allowsWeakerLogin = account.allowPlain
        configuration.software = SoftwareIdentity(name: "jabberctl", version: ProductVersion.current)
        jid = address.bare
        self.configuration = configuration
    }

    /// The WebSocket that an account names as its host.
    private static func webSocket(
        _ text: String, _ account: AccountConfiguration
    ) throws(ControlError) -> WebSocketAddress {
        guard let address = WebSocketAddress(text) else {
            throw ControlError(
                .configuration,
                "the host \(text) is no address of a WebSocket; one looks like wss://example.org/xmpp-websocket")
        }
        guard account.port == nil, account.tls == nil else {
            throw ControlError(.configuration, "the host \(text) says it all: leave --port and --tls out")
        }
        return address
    }
}

extension ConnectionProxy {
    /// A proxy of the settings, with the password for it.
    init(_ address: ProxyAddress, password: String?) {
        let password = password.map { Password($0) }
        switch address.scheme {
        case .socks5:
            self = .socks5(host: address.host, port: address.port, username: address.username, password: password)
        case .http:
            self = .http(host: address.host, port: address.port, username: address.username, password: password)
        }
    }
}
