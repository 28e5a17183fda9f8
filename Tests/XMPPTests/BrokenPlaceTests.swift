// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPPTestSupport
import XMPPTransport

@testable import XMPP

/// A domain with two places, both of which lead to the same server.
private struct TwoPlaces: StreamConnector {
    static let first = ConnectionTarget(host: "first.example.org", priority: 0)
    static let second = ConnectionTarget(host: "second.example.org", priority: 5)

    let inner: any StreamConnector
    let visits = Locked<[String]>([])

    func targets(for domain: String, override: ConnectionTarget?) async throws(ConnectError) -> [ConnectionTarget] {
        [Self.first, Self.second]
    }

    func connect(
        to target: ConnectionTarget, on executor: StreamExecutor
    ) async throws(ConnectError) -> any ByteTransport {
        visits.withLock { $0.append(target.host) }
        return try await inner.connect(to: target, on: executor)
    }
}

/// A domain with three places: one from which nothing comes, one that is out of reach at first, and one that breaks
/// down.
private struct SlowPlaces: StreamConnector {
    let live: UInt16
    let breaking: any StreamConnector
    let visits = Locked<[String]>([])

    func targets(for domain: String, override: ConnectionTarget?) async throws(ConnectError) -> [ConnectionTarget] {
        ["silent", "slow", "breaking"].map { ConnectionTarget(host: $0) }
    }

    func connect(
        to target: ConnectionTarget, on executor: StreamExecutor
    ) async throws(ConnectError) -> any ByteTransport {
        let isKnown = visits.withLock { visits in
            defer { visits.append(target.host) }
            return visits.contains(target.host)
        }
        if target.host == "breaking" { return try await breaking.connect(to: target, on: executor) }
        if isKnown {
            return try await NetworkConnector().connect(
                to: ConnectionTarget(host: "127.0.0.1", port: live), on: executor)
        }
        let never = Handover<Void>()
        await withTaskCancellationHandler {
            await never.value()
        } onCancel: {
            never.give(())
        }
        throw ConnectError.cancelled
    }
}

@Suite("A place that answers and then breaks down (RFC 6120 §3.2.1)", .timeLimit(.minutes(3)))
struct BrokenPlaceTests {
    private static let header =
        "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' from='example.org'"
        + " id='x' version='1.0'>"

    private static func ending(_ condition: String) -> String {
        "\(header)<stream:error><\(condition) xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error></stream:stream>"
    }

    /// Where a client goes whose first connection takes this course, and what it comes to.
    private func visits(
        _ first: [StreamScript.Step], flaw: TestCertificate.Flaw? = nil
    ) async throws -> (places: [String], error: XMPPError?) {
        let scripted = try ScriptedServer(flaw: flaw)
        var script = StreamScript()
        script.steps = first + [.reconnect, .advance(to: .bound)]
        let played = Task { [script] in try await scripted.play(script) }
        var configuration = scripted.configuration
        let places = TwoPlaces(inner: configuration.connector)
        configuration.connector = places
        configuration.asksWebForPlaces = false
        configuration.use(TestClock())
        let stream = XMPPStream(configuration)
        var failure: XMPPError?
        do {
            try await stream.connect()
        } catch {
            failure = error
        }
        await stream.disconnect()
        played.cancel()
        _ = await played.result
        return (places.visits.withLock { $0 }, failure)
    }

    @Test(
        "is left for the next one as long as it was not told who we are",
        arguments: [
            [StreamScript.Step.advance(to: .tls), .close], [.advance(to: .tls), .reset],
            [.advance(to: .tls), .await("<stream:stream"), .send(ending("system-shutdown")), .close],
            [.await("<stream:stream"), .send(ending("resource-constraint")), .close],
            [.await("<stream:stream"), .send(ending("internal-server-error")), .close],
            [
                .await("<stream:stream"),
                .send(
                    header + "<stream:features><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/></stream:features>"),
                .await("<starttls"), .send("<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"), .close,
            ],
        ])
    func left(_ first: [StreamScript.Step]) async throws {
        let (places, error) = try await visits(first)
        #expect(error == nil, "\(error as Any)")
        #expect(places == ["first.example.org", "second.example.org"])
    }

    @Test(
        "is the end of it where the domain itself says no, or was told who we are",
        arguments: [
            [StreamScript.Step.await("<stream:stream"), .send(ending("host-unknown")), .close],
            [.advance(to: .tls), .await("<stream:stream"), .send(ending("policy-violation")), .close],
            [.advance(to: .sasl), .await("<auth"), .close],
            [.advance(to: .bind), .await("<bind"), .send("</stream:stream>"), .close],
            // Somebody in between could bring that about, to have a better look at the next one.
            [.await("<stream:stream"), .send(header + "<stream:features/>"), .close],
        ])
    func final(_ first: [StreamScript.Step]) async throws {
        let (places, error) = try await visits(first)
        #expect(error != nil)
        #expect(places == ["first.example.org"])
    }

    @Test("one that has won the race and breaks down then is followed by those that were called back for it")
    func calledBack() async throws {
        let server = try await verona()
        let scripted = try ScriptedServer(account: "romeo@example.net", usesTLS: true)
        let script = StreamScript(
            .await("<stream:stream"),
            .send(
                Self.header.replacing("example.org", with: "example.net")
                    + "<stream:features><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/></stream:features>"),
            .await("<starttls"), .close)
        let played = Task { try await scripted.play(script) }
        var configuration = try await server.configuration(for: "romeo")
        (configuration.host, configuration.port) = (nil, nil)
        let clock = TestClock()
        configuration.use(clock)
        let places = SlowPlaces(live: server.port, breaking: scripted.configuration.connector)
        configuration.connector = places
        let stream = XMPPStream(configuration)
        let connecting = Task { _ = try await stream.connect() }
        // The scout to the slow place sets out, and then the one to the place that breaks down.
        for count in 1...2 {
            await clock.waitForTimers(1)
            try await Patience.wait(for: "who was first to be there") { places.visits.withLock { $0.count >= count } }
            await clock.advance(by: XMPPStream.raceDelay)
            try await Patience.wait(for: "the scout to set out") { places.visits.withLock { $0.count > count } }
        }
        try await connecting.value
        #expect(places.visits.withLock { $0 } == ["silent", "slow", "breaking", "slow"])
        await stream.disconnect()
        played.cancel()
        _ = await played.result
        await server.stop()
    }

    @Test("with a certificate of somebody else it is the end as well (RFC 6120 §13.7.2)")
    func impostor() async throws {
        let (places, error) = try await visits([.advance(to: .tls)], flaw: .wrongName)
        #expect(error?.code == .certificateRejected && places == ["first.example.org"], "\(error as Any)")
    }
}
