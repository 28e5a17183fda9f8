// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore

@testable import XMPPProtocol

@Suite("A server that does not finish what it began")
struct StreamSlownessTests {
    /// How long until the machine ends the stream, in quarters of the time-out, when only the timer runs; `nil` for
    /// never.
    private func quartersUntilEnd(_ machine: StreamStateMachine) -> Int? {
        var machine = machine
        for quarter in 1...8 {
            let actions = machine.timerFired(.stanza)
            if actions.end == .timedOut(.stanza) {
                #expect(actions.compactMap(\.sent) == [StreamError(.connectionTimeout).element])
                #expect(actions.last == .closeTransport)
                return quarter
            }
            guard actions == [.schedule(.stanza, after: .seconds(75))] else { return nil }
        }
        return nil
    }

    @Test("a stanza that is not finished in 300 seconds ends the stream with connection-timeout (RFC 6120 §4.9.3.4)")
    func unfinished() throws {
        var harness = try MachineHarness()
        try harness.establish()
        #expect(harness.machine.readEnded(midElement: true) == [.schedule(.stanza, after: .seconds(75))])
        #expect(harness.machine.readEnded(midElement: true) == [], "one byte more changes nothing")
        #expect(quartersUntilEnd(harness.machine) == 4)
    }

    @Test("one that is finished gives the next its full time")
    func finished() throws {
        var harness = try MachineHarness()
        try harness.establish()
        _ = harness.machine.readEnded(midElement: true)
        _ = harness.machine.timerFired(.stanza)
        _ = harness.machine.timerFired(.stanza)
        _ = harness.machine.timerFired(.stanza)
        try harness.receive("<message><body>1</body></message>")
        #expect(harness.machine.readEnded(midElement: true) == [])
        #expect(quartersUntilEnd(harness.machine) == 4)
    }

    @Test("between stanzas the timer ends, and silence is nobody's fault")
    func between() throws {
        var harness = try MachineHarness()
        try harness.establish()
        #expect(harness.machine.readEnded(midElement: false) == [])
        _ = harness.machine.readEnded(midElement: true)
        _ = harness.machine.readEnded(midElement: false)
        #expect(harness.machine.timerFired(.stanza) == [])
        #expect(harness.machine.readEnded(midElement: true) == [.schedule(.stanza, after: .seconds(75))])
    }

    @Test("before the session the deadline of the negotiation counts, whatever arrives")
    func negotiation() throws {
        var harness = try MachineHarness()
        #expect(
            harness.machine.transportConnected(directTLS: false, peerIsLoopback: false)
                .contains(.schedule(.negotiation, after: .seconds(30))))
        #expect(harness.machine.readEnded(midElement: true) == [])
        #expect(harness.machine.timerFired(.negotiation).end == .timedOut(.negotiation))
    }
}
