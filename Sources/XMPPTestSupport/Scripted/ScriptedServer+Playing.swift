// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPCore
internal import XMPPCrypto
internal import XMPPProtocol
internal import XMPPTransport
internal import XMPPXML

extension ScriptedServer {
    /// The mechanisms of an ordinary server.
    private static let ordinaryMechanisms = ["SCRAM-SHA-256", "SCRAM-SHA-1", "PLAIN"]

    /// Follows a script; returns when its last step is done. The connection stays as it is then.
    ///
    /// - Throws: ``TestSupportError`` when the client does not do what the script waits for.
    public func play(_ script: StreamScript) async throws(TestSupportError) {
        for step in script.steps { try await perform(step) }
    }

    private func perform(_ step: StreamScript.Step) async throws(TestSupportError) {
        switch step {
        case .advance(let stage): try await advance(to: stage)
        case .send(let text): try await send(text.replacing("{id}", with: awaitedID ?? ""))
        case .sendBytes(let bytes): await (try await connection()).send(bytes)
        case .slice(let size): await (try await connection()).slice(size)
        case .await(let text): try await next(containing: text)
        case .offer(let mechanisms): try await offer(mechanisms)
        case .authenticate(let iterations): try await authenticate(Self.ordinaryMechanisms, iterations: iterations)
        case .pause(let duration): await pause(duration)
        case .close: await (try await connection()).end(reset: false)
        case .mute: await (try await connection()).mute()
        case .reset: await (try await connection()).end(reset: true)
        case .reconnect: _ = try await nextConnection()
        }
    }

    private func send(_ text: String) async throws(TestSupportError) {
        await (try await connection()).send(Array(text.utf8))
    }

    private func pause(_ duration: Duration) async {
        await withCheckedContinuation { continuation in
            _ = SystemClock().schedule(after: duration, on: StreamExecutor()) { continuation.resume() }
        }
    }

    // MARK: An ordinary server

    private func advance(to wanted: StreamScript.Stage) async throws(TestSupportError) {
        _ = try await connection()
        while stage < wanted {
            switch stage {
            case .tcp: try await agreeOnTLS()
            case .tls: try await offer(Self.ordinaryMechanisms)
            case .sasl: try await authenticate(Self.ordinaryMechanisms, iterations: 4_096)
            case .authed: try await offerBinding()
            case .bind: try await bind()
            case .bound: try await comeOnline()
            case .online: return
            }
        }
    }

    /// Awaits the client's header and sends one of ours, with features.
    private func open(_ features: String) async throws(TestSupportError) {
        try await next(containing: "<stream:stream")
        let id = SecureRandom().identifier()
        try await send(
            "<?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='\(Namespace.streams)'"
                + " from='\(account.domainpart)' id='\(id)' version='1.0'>"
                + "<stream:features>\(features)</stream:features>")
    }

    private func agreeOnTLS() async throws(TestSupportError) {
        stage = .tls
        guard usesTLS else { return }
        try await open("<starttls xmlns='\(Namespace.startTLS)'><required/></starttls>")
        try await next(containing: "<starttls")
        try await connection().secure(context, saying: "<proceed xmlns='\(Namespace.startTLS)'/>")
    }

    private func offer(_ mechanisms: [String]) async throws(TestSupportError) {
        stage = .sasl
        let list = mechanisms.map { "<mechanism>\($0)</mechanism>" }.joined()
        try await open("<mechanisms xmlns='\(Namespace.sasl)'>\(list)</mechanisms>")
    }

    private func authenticate(_ mechanisms: [String], iterations: Int) async throws(TestSupportError) {
        let connection = try await connection()
        let login = LoopbackAccount(jid: account, password: password)
        var authenticator = LoopbackAuthenticator(mechanisms: mechanisms, iterations: iterations, bindings: [:])
        let isKnown: (String) -> LoopbackAccount? = { $0 == login.jid.localpart ? login : nil }
        let request = try await element(containing: "<auth")
        var step = authenticator.start(
            request["mechanism"] ?? "", initial: request.text.isEmpty ? nil : Self.payload(request), account: isKnown)
        while true {
            switch step {
            case .challenge(let bytes):
                try await send("<challenge xmlns='\(Namespace.sasl)'>\(Base64.encode(bytes))</challenge>")
                let response = try await element(containing: "<response")
                step = authenticator.respond(Self.payload(response), account: isKnown)
            case .success(_, let data):
                await connection.restart()
                stage = .authed
                return try await send(
                    "<success xmlns='\(Namespace.sasl)'>\(data.map { Base64.encode($0) } ?? "")</success>")
            case .failure(let condition):
                try await send("<failure xmlns='\(Namespace.sasl)'><\(condition)/></failure>")
                throw TestSupportError("the client did not log in: \(condition)")
            }
        }
    }

    private static func payload(_ element: Element) -> [UInt8] {
        Base64.decode(element.text) ?? []
    }

    private func element(containing text: String) async throws(TestSupportError) -> Element {
        let unit = try await connection().next(containing: text, within: patience)
        guard let element = unit.element else { throw TestSupportError("“\(unit.text)” is not an element") }
        awaitedID = element["id"]
        return element
    }

    private func offerBinding() async throws(TestSupportError) {
        stage = .bind
        try await open("<bind xmlns='\(Namespace.bind)'/>")
    }

    private func bind() async throws(TestSupportError) {
        stage = .bound
        let request = try await element(containing: Namespace.bind)
        let wanted = request.firstChild("bind", namespace: Namespace.bind)?
            .firstChild("resource", namespace: Namespace.bind)?.text
        guard let jid = try? account.withResource(wanted ?? "balcony") else {
            throw TestSupportError("the client asked for a resource that is none")
        }
        var result = Element("iq", namespace: Namespace.client, attributes: ["type": "result", "id": request["id"]])
        result.append(
            Element(
                "bind", namespace: Namespace.bind,
                children: [Element("jid", namespace: Namespace.bind, text: jid.description)]))
        try await send(result)
    }

    /// Answers the roster request with two contacts, and awaits the first presence.
    private func comeOnline() async throws(TestSupportError) {
        stage = .online
        let request = try await element(containing: Namespace.roster)
        let items = ["romeo@example.net", "nurse@example.org"].map {
            Element("item", namespace: Namespace.roster, attributes: ["jid": $0, "subscription": "both"])
        }
        var result = Element("iq", namespace: Namespace.client, attributes: ["type": "result", "id": request["id"]])
        result.append(Element("query", namespace: Namespace.roster, children: items))
        try await send(result)
        try await next(containing: "<presence")
    }

    private func send(_ element: Element) async throws(TestSupportError) {
        guard let text = try? XMLSerializer.string(element, defaultNamespace: Namespace.client, isInStream: true) else {
            throw TestSupportError("an element cannot be written")
        }
        try await send(text)
    }
}
