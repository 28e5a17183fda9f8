// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPCrypto

/// One client of a ``LoopbackProxy``.
///
/// Unchecked: all state is confined to the executor's queue. It is kept by the handlers of its two transports.
final class LoopbackProxyClient: @unchecked Sendable {
    /// Who is let in.
    struct Login: Sendable, Hashable {
        let username: String
        let password: String
    }

    private enum State {
        case awaitingMethods
        case awaitingLogin
        case awaitingRequest
        case connecting
        case connected(SocketTransport)
        case over
    }

    private let client: SocketTransport
    private let kind: LoopbackProxy.Kind
    private let login: Login?
    private let manner: LoopbackProxy.Manner
    private let executor: StreamExecutor
    private let ports: [UInt16: UInt16]
    private let ask: (String) -> Void
    private var state: State
    private var input: [UInt8] = []

    init(
        _ client: SocketTransport, _ kind: LoopbackProxy.Kind, login: Login?, manner: LoopbackProxy.Manner,
        on executor: StreamExecutor, ports: [UInt16: UInt16], asking ask: @escaping (String) -> Void
    ) {
        self.client = client
        self.kind = kind
        self.login = login
        self.manner = manner
        self.executor = executor
        self.ports = ports
        self.ask = ask
        state = kind == .socks5 ? .awaitingMethods : .awaitingRequest
    }

    func start() {
        client.start { event in self.handle(event) }
    }

    private func handle(_ event: TransportEvent) {
        switch event {
        case .received(let bytes):
            if case .connected(let server) = state { return server.send(bytes) }
            input += bytes
            switch manner {
            case .isSilent: return
            case .hangsUp: return over()
            case .says(let bytes):
                client.send(bytes)
                state = .over
            case .connects, .refuses, .adds: step()
            }
        case .drained: break
        case .endOfInput, .closed: over()
        }
    }

    private func over() {
        if case .connected(let server) = state { server.close() }
        state = .over
        client.close()
    }

    private func take(_ count: Int) -> [UInt8]? {
        guard input.count >= count else { return nil }
        defer { input.removeFirst(count) }
        return Array(input.prefix(count))
    }

    private func step() {
        switch (kind, state) {
        case (.http, .awaitingRequest): takeHead()
        case (.socks5, .awaitingMethods): takeMethods()
        case (.socks5, .awaitingLogin): takeLogin()
        case (.socks5, .awaitingRequest): takeRequest()
        case (_, .awaitingMethods), (_, .awaitingLogin), (_, .connecting), (_, .connected), (_, .over): break
        }
    }

    // MARK: SOCKS 5 (RFC 1928, RFC 1929)

    private func takeMethods() {
        guard input.count >= 2, let hello = take(2 + Int(input[1])) else { return }
        let wanted: UInt8 = login == nil ? 0 : 2
        guard hello[0] == 5, hello[2...].contains(wanted) else {
            client.send([5, 0xFF])
            return over()
        }
        state = login == nil ? .awaitingRequest : .awaitingLogin
        client.send([5, wanted])
    }

    private func takeLogin() {
        guard input.count >= 2 else { return }
        let nameLength = Int(input[1])
        guard input.count > 2 + nameLength, let words = take(3 + nameLength + Int(input[2 + nameLength])) else {
            return
        }
        let given = Login(
            username: String(decoding: words[2..<(2 + nameLength)], as: UTF8.self),
            password: String(decoding: words[(3 + nameLength)...], as: UTF8.self))
        client.send([1, given == login ? 0 : 1])
        if given == login { state = .awaitingRequest } else { over() }
    }

    private func takeRequest() {
        guard input.count >= 5 else { return }
        let length = input[3] == 1 ? 4 : input[3] == 4 ? 16 : 1 + Int(input[4])
        guard let request = take(4 + length + 2) else { return }
        let address = Array(request[4..<(4 + length)])
        let host =
            request[3] == 3
            ? String(decoding: address.dropFirst(), as: UTF8.self)
            : SocketAddress(hostBytes: address)?.host ?? "?"
        connect(to: host, UInt16(request[4 + length]) << 8 | UInt16(request[5 + length]))
    }

    // MARK: CONNECT (RFC 9110 §9.3.6)

    private func takeHead() {
        let text = String(decoding: input, as: UTF8.self)
        guard text.contains("\r\n\r\n") else { return }
        input = []
        let lines = text.split(separator: "\r\n")
        let words = (lines.first ?? "").split(separator: " ")
        guard words.count == 3, words[0] == "CONNECT", let place = HostPort(words[1]), let port = place.port else {
            return refuse("400 Bad Request")
        }
        if let login {
            let proof = Base64.encode(Array("\(login.username):\(login.password)".utf8))
            guard lines.contains("Proxy-Authorization: Basic \(proof)") else {
                return refuse("407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"loopback\"")
            }
        }
        connect(to: place.host, port)
    }

    private func refuse(_ status: String) {
        client.send(Array("HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n".utf8))
        over()
    }

    // MARK: The way

    private func connect(to host: String, _ port: UInt16) {
        ask("\(host):\(port)")
        state = .connecting
        guard manner != .refuses, let own = ports[port] else { return fail() }
        _ = SocketConnection.start(
            to: .loopback(port: own), on: executor, timeout: .seconds(5), clock: SystemClock()
        ) { result in
            if case .success(let server) = result { self.join(server) } else { self.fail() }
        }
    }

    private func fail() {
        guard kind == .socks5 else { return refuse("502 Bad Gateway") }
        client.send([5, 5, 0, 1, 0, 0, 0, 0, 0, 0])
        over()
    }

    private func join(_ server: SocketTransport) {
        guard case .connecting = state else { return server.abort() }
        state = .connected(server)
        var consent: [UInt8] =
            kind == .socks5
            ? [5, 0, 0, 1, 127, 0, 0, 1, 0, 0] : Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8)
        if case .adds(let bytes) = manner { consent += bytes }
        client.send(consent)
        server.start { [client] event in
            switch event {
            case .received(let bytes): client.send(bytes)
            case .drained: break
            case .endOfInput, .closed: self.over()
            }
        }
    }
}
