// SPDX-License-Identifier: Apache-2.0

internal import SocketIO

/// A small proxy inside of your test's process: SOCKS 5 or HTTP's CONNECT, with manners that a test chooses.
///
/// ```swift
/// let proxy = try LoopbackProxy(.socks5, to: [5222: server.port])
/// configuration.proxy = .socks5(host: "127.0.0.1", port: proxy.port)
/// ```
///
/// It listens on 127.0.0.1 and connects to 127.0.0.1 alone, whatever host it is asked for.
public final class LoopbackProxy: Sendable {
    /// What it speaks.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// SOCKS 5 (RFC 1928).
        case socks5
        /// HTTP's CONNECT (RFC 9110 §9.3.6).
        case http
    }

    /// How it behaves.
    public enum Manner: Sendable, Hashable {
        /// It connects.
        case connects
        /// It connects to nothing.
        case refuses
        /// It says nothing at all.
        case isSilent
        /// It hangs up as soon as something is said.
        case hangsUp
        /// It says this to whatever is said first.
        case says([UInt8])
        /// It connects, and adds this to its consent.
        case adds([UInt8])
    }

    /// Requests remembered at most; 10,000.
    static let maximumRequests = 10_000

    /// The port that it listens at.
    public let port: UInt16
    private let executor = StreamExecutor(label: "swift-xmpp.loopback.proxy")
    private let listener: ListeningSocket
    private let asked = Locked<[String]>([])

    /// Starts a proxy.
    ///
    /// - Parameters:
    ///   - kind: What it speaks.
    ///   - ports: Which port of this machine is behind each port that it may be asked for; others refuse.
    ///   - username: Whom it lets in; `nil` lets everybody in.
    ///   - password: The password for that name.
    ///   - manner: How it behaves.
    /// - Throws: ``TestSupportError`` when no port can be had.
    public init(
        _ kind: Kind, to ports: [UInt16: UInt16], username: String? = nil, password: String = "",
        manner: Manner = .connects
    ) throws(TestSupportError) {
        do throws(SystemError) {
            listener = try ListeningSocket(.loopback(port: 0), on: executor)
        } catch {
            throw TestSupportError("the loopback proxy cannot listen: \(error)")
        }
        port = listener.address.port ?? 0
        let login = username.map { LoopbackProxyClient.Login(username: $0, password: password) }
        executor.run { [listener, asked, executor] in
            listener.start { transport in
                LoopbackProxyClient(
                    transport, kind, login: login, manner: manner, on: executor, ports: ports
                ) { place in
                    asked.withLock { if $0.count < Self.maximumRequests { $0.append(place) } }
                }.start()
            }
        }
    }

    /// What it was asked to connect to, as `host:port`, in order.
    public var requests: [String] { asked.withLock { $0 } }

    /// Listens no more; connections that there are live on.
    public func stop() {
        executor.run { [listener] in listener.close() }
    }
}
