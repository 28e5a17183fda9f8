// SPDX-License-Identifier: Apache-2.0

import Dispatch
import SocketIO
import Testing
import XMPPTestSupport
import XMPPTransport

@testable import XMPP

@Suite("The race of a domain's places (XEP-0495)", .timeLimit(.minutes(5)))
struct RacingTests {
    private static let blackHole = ConnectionTarget(host: "black.hole", port: 5222)

    @Test(
        "one that takes the connection and is silent costs the race's delay, and not its time limit",
        arguments: [false, true], [false, true])
    func silent(isFirstDirect: Bool, isSecondDirect: Bool) async throws {
        let server = try await verona()
        let listener = try ListeningSocket(.loopback(port: 0), on: StreamExecutor())
        let clock = TestClock()
        let live = isSecondDirect ? server.directTLSPort : server.port
        let stream = XMPPStream(
            try await racing(
                server,
                [
                    place(listener.address.port, isFirstDirect ? .directTLS : .startTLS),
                    place(live, isSecondDirect ? .directTLS : .startTLS),
                ], clock))
        let connected = Task { _ = try await stream.connect() }
        // The race's, the negotiation's, and TLS's where it comes first.
        await clock.waitForTimers(isFirstDirect ? 3 : 2)
        await clock.advance(by: XMPPStream.raceDelay)
        try await connected.value
        #expect(clock.now == .milliseconds(250))
        #expect(await stream.endpoint == "127.0.0.1:\(try #require(live))")
        #expect(await stream.security != nil)
        try await stream.goOnline()
        try await stream.ping()
        #expect(await server.acceptedConnections == 1, "what was found is what is used")
        await stream.disconnect()
        await server.stop()
        withExtendedLifetime(listener) {}
    }

    @Test("a server that sends on to another host is followed there, while the place before it is silent")
    func sentOn() async throws {
        let (server, other) = (try await verona(), try await verona())
        let listener = try ListeningSocket(.loopback(port: 0), on: StreamExecutor())
        let live = try #require(server.directTLSPort)
        await server.changeOptions { options in
            options.redirection = "127.0.0.1:\(live)"
            options.redirectedStreams = 1
        }
        let clock = TestClock()
        let places = try [
            place(listener.address.port, .directTLS), place(live, .directTLS), place(other.directTLSPort, .directTLS),
        ]
        let stream = XMPPStream(try await racing(server, places, clock))
        let connected = Task { _ = try await stream.connect() }
        await clock.waitForTimers(3)
        await clock.advance(by: XMPPStream.raceDelay)
        try await connected.value
        #expect(await stream.endpoint == "127.0.0.1:\(live)")
        #expect(await server.acceptedConnections == 2, "and once more where it was sent")
        #expect(await other.acceptedConnections == 0)
        await stream.disconnect()
        await server.stop()
        await other.stop()
        withExtendedLifetime(listener) {}
    }

    @Test("one that is out of reach costs the same, and each further one as much again")
    func unreachable() async throws {
        let server = try await verona()
        let clock = TestClock()
        let places = try [Self.blackHole, Self.blackHole, place(server.port)]
        let stream = XMPPStream(try await racing(server, places, clock))
        let connected = Task { _ = try await stream.connect() }
        await clock.waitForTimers()
        await clock.advance(by: XMPPStream.raceDelay)
        await clock.waitForTimers()
        await clock.advance(by: XMPPStream.raceDelay)
        try await connected.value
        #expect(clock.now == .milliseconds(500))
        await stream.disconnect()
        await server.stop()
    }

    @Test("one unreachable place costs 250 ms, of whatever priority the next one is", arguments: [0, 1] as [UInt16])
    func unreachableGroup(priority: UInt16) async throws {
        let server = try await verona()
        let clock = TestClock()
        let places = try [Self.blackHole, place(server.port, priority: priority)]
        let stream = XMPPStream(try await racing(server, places, clock))
        let connected = Task { _ = try await stream.connect() }
        await clock.waitForTimers()
        await clock.advance(by: XMPPStream.raceDelay)
        try await connected.value
        #expect(clock.now == .milliseconds(250))
        await stream.disconnect()
        await server.stop()
    }

    @Test("a place that is connected holds the next priority back for a second, and its own not (XEP-0495 §4.1)")
    func nextGroup() async throws {
        for isFirst in [true, false] {
            let server = try await verona()
            let listener = try ListeningSocket(.loopback(port: 0), on: StreamExecutor())
            let clock = TestClock()
            let silent = try place(listener.address.port)
            let live = try place(server.port, priority: 1)
            let stream = XMPPStream(
                try await racing(server, isFirst ? [silent, live] : [Self.blackHole, silent, live], clock))
            let connected = Task { _ = try await stream.connect() }
            // The race's, and the negotiation's of each that is connected.
            if !isFirst {
                await clock.waitForTimers()
                await clock.advance(by: XMPPStream.raceDelay)
            }
            await clock.waitForTimers(2)
            await clock.advance(by: .milliseconds(999))
            #expect(await server.acceptedConnections == 0)
            // Where the scout came through after the timer was set, that was set for less and then anew.
            await clock.advance(by: isFirst ? .milliseconds(1) : .milliseconds(251))
            try await connected.value
            #expect(await stream.endpoint == "127.0.0.1:\(server.port)")
            await stream.disconnect()
            await server.stop()
            withExtendedLifetime(listener) {}
        }
    }

    @Test("a refusal sends nobody to the next priority while another place of this one is on the way (XEP-0495 §4.1)")
    func refusedInGroup() async throws {
        let (server, last) = (try await verona(), try await verona())
        let clock = TestClock()
        var configuration = try await racing(server, [], clock)
        let places = FixedPlaces([
            ConnectionTarget(host: "failing.later"), try place(1), try place(server.port, priority: 1),
            try place(last.port, priority: 2),
        ])
        configuration.connector = places
        let refused = Handover<Void>()
        configuration.observer = StreamObserver(milestone: { if case .failed = $0 { refused.give(()) } })
        let stream = XMPPStream(configuration)
        let connected = Task { _ = try await stream.connect() }
        await clock.waitForTimers()
        await clock.advance(by: XMPPStream.raceDelay)
        await refused.value()
        #expect(await server.acceptedConnections == 0)
        // The last of the priority fails: now it is the next one's turn, at once.
        places.failure.give(())
        try await connected.value
        #expect(clock.now == .milliseconds(250))
        #expect(await stream.endpoint == "127.0.0.1:\(server.port)")
        #expect(await last.acceptedConnections == 0)
        await stream.disconnect()
        await server.stop()
        await last.stop()
    }

    @Test("one that answers in time is not raced, and one that refuses costs no time")
    func prompt() async throws {
        let (first, second) = (try await verona(), try await verona())
        let clock = TestClock()
        let places = try [place(1), place(first.port), place(second.port)]
        let stream = XMPPStream(try await racing(first, places, clock))
        try await stream.connect()
        #expect(await stream.endpoint == "127.0.0.1:\(first.port)")
        await clock.advance(by: .seconds(10))
        #expect(await second.acceptedConnections == 0)
        try await stream.ping()
        await stream.disconnect()
        await first.stop()
        await second.stop()
    }

    @Test("the reasons of all are told when nobody answers, and no scout is left behind")
    func nobody() async throws {
        let server = try await verona()
        let clock = TestClock()
        let places = try [Self.blackHole, place(1), place(2)]
        let stream = XMPPStream(try await racing(server, places, clock))
        let connected = Task { _ = try await stream.connect() }
        await clock.waitForTimers()
        await clock.advance(by: XMPPStream.raceDelay)
        // Both refuse, one after the other without a pause; what is left is the first, until it is called off.
        await stream.disconnect()
        let error = await #expect(throws: XMPPError.self) { try await connected.value }
        #expect(error != nil)
        #expect(clock.timerCount == 0)
        await server.stop()
    }

    @Test("calling it off ends the wait for those that run on when the first has failed")
    func calledOff() async throws {
        let server = try await verona()
        let listener = try ListeningSocket(.loopback(port: 0), on: StreamExecutor())
        let clock = TestClock()
        var configuration = try await racing(server, [], clock)
        let places = FixedPlaces([ConnectionTarget(host: "failing.later"), try place(listener.address.port)])
        configuration.connector = places
        let failed = Handover<Void>()
        configuration.observer = StreamObserver(milestone: { if case .failed = $0 { failed.give(()) } })
        let stream = XMPPStream(configuration)
        let connected = Task { _ = try await stream.connect() }
        await clock.waitForTimers()
        await clock.advance(by: XMPPStream.raceDelay)
        // The scout's own time limit: it is on its way.
        await clock.waitForTimers()
        places.failure.give(())
        await failed.value()
        await stream.disconnect()
        await #expect(throws: XMPPError.self) { try await connected.value }
        #expect(clock.timerCount == 0)
        await server.stop()
        withExtendedLifetime(listener) {}
    }

    @Test("one that was sent a proof of who the user is gets its whole time: no other place is sent one meanwhile")
    func proof() async throws {
        let (first, second) = (try await verona { $0 = .modern }, try await verona { $0 = .modern })
        let clock = TestClock()
        let places = try [place(first.directTLSPort, .directTLS), place(second.port)]
        let configuration = try await racing(first, places, clock)
        let known = XMPPStream(configuration)
        try await known.connect()
        await known.disconnect()
        // What is offered there is known now, so the proof goes with the header; and then nothing comes back.
        await first.planNextConnection([.stall(afterBytes: 0, .toClient)], on: .stream)
        let stream = XMPPStream(configuration)
        let connected = Task { _ = try await stream.connect() }
        try await Patience.wait(for: "the proof") {
            await first.transcript.contains { $0.connection == 2 && $0.element.localName == "authenticate" }
        }
        await clock.advance(by: XMPPStream.raceDelay)
        try await Patience.wait(for: "the scout") {
            await second.transcript.contains { $0.element.localName == "features" }
        }
        await clock.advance(by: .seconds(30))
        try await connected.value
        #expect(
            await stream.endpoint == "127.0.0.1:\(try #require(first.directTLSPort))", "the second time, without haste")
        #expect(await !second.transcript.contains { $0.element.localName == "authenticate" })
        await stream.disconnect()
        await first.stop()
        await second.stop()
    }

    @Test("a certificate is checked at each place: one that proves another domain wins nothing")
    func impostor() async throws {
        let server = try await verona()
        var options = LoopbackOptions()
        options.certificateNames = [.dns("other.example")]
        let other = try await LoopbackServer.start(domain: "example.net", options: options)
        let clock = TestClock()
        let places = try [
            Self.blackHole, place(other.directTLSPort, .directTLS), place(server.directTLSPort, .directTLS),
        ]
        let stream = XMPPStream(try await racing(server, places, clock))
        let connected = Task { _ = try await stream.connect() }
        await clock.waitForTimers()
        await clock.advance(by: XMPPStream.raceDelay)
        try await connected.value
        #expect(await stream.endpoint == "127.0.0.1:\(try #require(server.directTLSPort))")
        #expect(await other.transcript.isEmpty)
        await stream.disconnect()
        await other.stop()
        await server.stop()
    }
}
