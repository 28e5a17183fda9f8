// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPTestSupport

@Suite("FaultProxy", .timeLimit(.minutes(1)))
struct FaultProxyTests {
    /// A server, a proxy before it, and a client that is connected to the proxy.
    private func scene(
        _ faults: [LoopbackFault] = [], _ body: (LoopbackServer, FaultProxy, RawClient) async throws -> Void
    ) async throws {
        let server = try await LoopbackServer.start(domain: "example.org", accounts: ["juliet": "balcony"])
        let proxy = try await FaultProxy.start(to: server.port)
        if !faults.isEmpty { await proxy.planNextConnection(faults) }
        let client = RawClient()
        try await client.connect(proxy.port)
        try await body(server, proxy, client)
        await proxy.stop()
        await server.stop()
    }

    @Test("passes on what both sides say, and tells how much that was")
    func passing() async throws {
        try await scene { _, proxy, client in
            await client.send(RawClient.header)
            let answer = await client.receive(until: "</stream:features>")
            #expect(answer.contains("<starttls"))
            let traffic = await proxy.traffic
            #expect(traffic.count == 1)
            #expect(traffic.first?.fromClient.last == RawClient.header.utf8.count)
            #expect(traffic.first?.toClient.last == answer.utf8.count)
            await client.send("</stream:stream>")
            #expect(await client.receiveAll().hasSuffix("</stream:stream>"))
        }
    }

    @Test("cuts the server's bytes where it was told to, in each way", arguments: [LoopbackFault.Ending.close, .reset])
    func cut(_ ending: LoopbackFault.Ending) async throws {
        try await scene([.cut(afterBytes: 20, .toClient, ending)]) { _, proxy, client in
            await client.send(RawClient.header)
            let answer = await client.receiveAll()
            // A reset may overtake what was sent before it.
            #expect(ending == .close ? answer.utf8.count == 20 : answer.utf8.count <= 20)
            #expect(await proxy.traffic.first?.fromClient.last == RawClient.header.utf8.count)
        }
    }

    @Test("cuts the client's bytes too, for both sides")
    func cutClient() async throws {
        try await scene([.cut(afterBytes: 20, .fromClient, .reset)]) { server, proxy, client in
            await client.send(RawClient.header)
            #expect(await client.receiveAll() == "")
            #expect(await proxy.traffic.first?.fromClient.last == 20)
            try await Patience.wait(for: "the server to notice") { await server.openConnections == 0 }
        }
    }

    @Test("a plan is for one connection: the next is whole again")
    func once() async throws {
        try await scene([.cut(afterBytes: 0)]) { _, proxy, client in
            await client.send(RawClient.header)
            #expect(await client.receiveAll() == "")
            let next = RawClient()
            try await next.connect(proxy.port)
            await next.send(RawClient.header)
            #expect(await next.receive(until: "</stream:features>").contains("<starttls"))
            await next.close()
        }
    }

    @Test("resets the connections that are open, and takes new ones")
    func cutConnections() async throws {
        try await scene { _, proxy, client in
            await client.send(RawClient.header)
            _ = await client.receive(until: "</stream:features>")
            await proxy.cutConnections()
            #expect(await client.receiveAll().hasSuffix("</stream:features>"))
            let next = RawClient()
            try await next.connect(proxy.port)
            await next.send(RawClient.header)
            #expect(await next.receive(until: "</stream:features>").contains("<starttls"))
            await next.close()
        }
    }

    @Test("what the server says does not come through once it is hushed; what the client says does")
    func hush() async throws {
        try await scene { _, proxy, client in
            await client.send(RawClient.header)
            let heard = await client.receive(until: "</stream:features>")
            await proxy.hush()
            let words = "<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"
            await client.send(words)
            try await Patience.wait(for: "the words to pass") {
                await proxy.traffic.first?.fromClient.last == RawClient.header.utf8.count + words.utf8.count
            }
            await proxy.cutConnections()
            #expect(await client.receiveAll() == heard)
        }
    }

    @Test("when it is stopped, its connections end and nobody can connect any more")
    func stop() async throws {
        try await scene { _, proxy, client in
            await client.send(RawClient.header)
            _ = await client.receive(until: "</stream:features>")
            await proxy.stop()
            await proxy.stop()
            #expect(await client.receiveAll().hasSuffix("</stream:features>"))
            await #expect(throws: (any Error).self) { try await RawClient().connect(proxy.port) }
        }
    }
}
