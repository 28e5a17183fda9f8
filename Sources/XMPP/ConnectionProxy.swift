// SPDX-License-Identifier: Apache-2.0

internal import XMPPTransport

/// A server that connects in our place (``XMPPConfiguration/proxy``), and looks names up in our place.
///
/// TLS goes through it from end to end: it sees which host is connected to, and nothing of what is said.
public struct ConnectionProxy: Sendable, CustomStringConvertible {
    /// Bytes of a name, or of a password, at most: 255 (RFC 1929 §2).
    public static let maximumCredentialBytes = Proxy.maximumCredentialBytes

    /// What the transport is told.
    let proxy: Proxy

    /// A SOCKS 5 proxy (RFC 1928), as Tor has one at port 9050.
    ///
    /// - Parameters:
    ///   - host: Its host: a name, or an address without brackets.
    ///   - port: Its port; 1080 unless said otherwise.
    ///   - username: Who asks (RFC 1929); Tor keeps the connections of different names apart.
    ///   - password: The password for that name. It goes to the proxy in the clear.
    public static func socks5(
        host: String, port: UInt16 = 1_080, username: String? = nil, password: Password? = nil
    ) -> ConnectionProxy {
        ConnectionProxy(
            proxy: Proxy(.socks5, host: host, port: port, username: username, password: password?.secret))
    }

    /// A proxy that knows HTTP's CONNECT (RFC 9110 §9.3.6). Many of them connect to port 443 alone: where that is so, a
    /// WebSocket gets through.
    ///
    /// - Parameters:
    ///   - host: Its host: a name, or an address without brackets.
    ///   - port: Its port; 8080 unless said otherwise.
    ///   - username: Who asks, by Basic authentication (RFC 7617).
    ///   - password: The password for that name. It goes to the proxy in the clear.
    public static func http(
        host: String, port: UInt16 = 8_080, username: String? = nil, password: Password? = nil
    ) -> ConnectionProxy {
        ConnectionProxy(
            proxy: Proxy(.http, host: host, port: port, username: username, password: password?.secret))
    }

    /// Where it is and how it is asked, as in `socks5://127.0.0.1:9050`; neither name nor password.
    public var description: String { proxy.description }
}

extension XMPPConfiguration {
    /// Where connections come from, the proxy's included.
    var route: any StreamConnector {
        guard let proxy = proxy?.proxy else { return connector }
        return ProxyConnector(proxy, over: connector, clock: clock)
    }
}

extension XMPPStream {
    /// Where connections come from.
    var connector: any StreamConnector { configuration.route }
}
