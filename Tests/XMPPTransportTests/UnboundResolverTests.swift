// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPPTestSupport

@testable import XMPPTransport

@Suite(.timeLimit(.minutes(5))) struct UnboundResolverTests {
    private func data(_ priority: UInt8, _ port: UInt16, _ labels: [String]) -> [UInt8] {
        let name: [UInt8] = labels.flatMap { label -> [UInt8] in [UInt8(label.utf8.count)] + Array(label.utf8) } + [0]
        return [0, priority, 0, 0, UInt8(port >> 8), UInt8(port & 0xFF)] + name
    }

    private func ask(_ answer: StubNameServer.Answer, timeout: Duration = .seconds(5)) async throws -> SRVAnswer {
        let server = try StubNameServer { _ in answer }
        let resolver = UnboundResolver(nameServers: .at(server.address), timeout: timeout)
        let result = await resolver.records(for: "_xmpp-client._tcp.example.org")
        withExtendedLifetime(server) {}
        return result
    }

    @Test("records are read, a target of \".\" included")
    func records() async throws {
        let answer = try await ask(.records([data(5, 5222, ["xmpp", "example", "net"]), data(6, 0, [])]))
        guard case .records(let records) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(
            Set(records) == [
                SRVRecord(priority: 5, weight: 0, port: 5222, target: "xmpp.example.net"),
                SRVRecord(priority: 6, weight: 0, port: 0, target: ""),
            ])
    }

    @Test("a thousand records are read, over TCP when they do not fit")
    func many() async throws {
        let answer = try await ask(.records((0..<1000).map { data(1, UInt16($0), ["h\($0)", "example", "net"]) }))
        guard case .records(let records) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(records.count == 1000)
    }

    @Test("a domain that does not exist, or has no records, has none", arguments: [UInt8(0), 3])
    func none(code: UInt8) async throws {
        #expect(try await ask(.code(code)) == .none)
    }

    @Test("failures of name servers are failures, with a reason, in bounded time", arguments: [UInt8(2), 5])
    func failures(code: UInt8) async throws {
        guard case .failed(let reason) = try await ask(.code(code)) else {
            Issue.record("no failure")
            return
        }
        #expect(!reason.isEmpty)
    }

    @Test("an alias that leads to itself, and garbage, end in bounded time")
    func hostile() async throws {
        for answer in [StubNameServer.Answer.aliasLoop, .garbage] {
            let result = try await ask(answer, timeout: .seconds(1))
            if case .records = result { Issue.record("\(result)") }
        }
    }

    @Test("silence ends with the time-out and says so")
    func silence() async throws {
        #expect(try await ask(.silence, timeout: .seconds(1)) == .failed("no name server answered within 1 s"))
    }

    @Test("cancelling ends the look-up at once", arguments: [false, true])
    func cancels(beforeItBegins: Bool) async throws {
        let server = try StubNameServer { _ in .silence }
        let resolver = UnboundResolver(nameServers: .at(server.address), timeout: .seconds(50))
        let task = Task {
            if beforeItBegins { try await Patience.wait(for: "the cancellation") { Task.isCancelled } }
            return await resolver.records(for: "_xmpp-client._tcp.example.org")
        }
        await Task.yield()
        task.cancel()
        #expect(try await task.value == .failed("called off"))
        withExtendedLifetime(server) {}
    }

    @Test("names of private networks are asked about like any other", arguments: ["example.test", "chat.home.arpa"])
    func privateNames(domain: String) async throws {
        let record = data(1, 5222, ["chat"])
        let server = try StubNameServer { _ in .records([record]) }
        let resolver = UnboundResolver(nameServers: .at(server.address))
        guard case .records = await resolver.records(for: "_xmpp-client._tcp.\(domain)") else {
            Issue.record("not asked")
            return
        }
        withExtendedLifetime(server) {}
    }

    @Test("a failure is forgotten: the next look-up succeeds without a restart")
    func recovers() async throws {
        guard case .failed = try await ask(.code(2)) else {
            Issue.record("no failure")
            return
        }
        guard case .records = try await ask(.records([data(1, 1, ["a"])])) else {
            Issue.record("no records")
            return
        }
    }

    @Test("the connector asks for both services and mixes them")
    func connector() async throws {
        let server = try StubNameServer { name in
            name.hasPrefix("_xmpps-")
                ? .records([self.data(1, 443, ["direct", "example"])])
                : .records([self.data(2, 5222, ["plain", "example"])])
        }
        let connector = NetworkConnector(services: UnboundResolver(nameServers: .at(server.address)))
        #expect(
            try await connector.targets(for: "example.org.", override: nil) == [
                ConnectionTarget(host: "direct.example", port: 443, security: .directTLS, priority: 1),
                ConnectionTarget(host: "plain.example", port: 5222, security: .startTLS, priority: 2),
            ])
        let override = ConnectionTarget(host: "elsewhere", port: 1, security: .directTLS)
        #expect(try await connector.targets(for: "example.org", override: override) == [override])
        #expect(
            try await connector.targets(for: "localhost", override: nil) == [
                ConnectionTarget(host: "localhost", port: 5222)
            ])
        withExtendedLifetime(server) {}
    }
}
