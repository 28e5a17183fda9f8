// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore

/// What the machine remembers about a first-level element that the server has begun.
struct UnfinishedStanza: Sendable {
    /// Quarters of the time-out that have passed since an element was completed, as far as they were counted.
    var quarters = 0
    /// Whether the timer runs.
    var isTimed = false
    /// Whether the last read ended within an element.
    var isThere = false
}

extension StreamStateMachine {
    /// How many ticks of the timer make the time-out. One timer that looks at a note from time to time costs a busy
    /// stream nothing; a timer set anew at each read would.
    private static let quartersOfStanza = 4

    /// The bytes of one read were parsed.
    ///
    /// A server that sends a byte now and then would otherwise hold a session, and what it buffers, for ever: before
    /// the session the negotiation's deadline forbids that, within it this one.
    ///
    /// - Parameter midElement: Whether a first-level element has begun that has not ended.
    package mutating func readEnded(midElement: Bool) -> [StreamAction] {
        unfinished.isThere = midElement
        guard midElement, !unfinished.isTimed, isEstablished else { return [] }
        unfinished.quarters = 0
        return timeStanza()
    }

    private mutating func timeStanza() -> [StreamAction] {
        unfinished.isTimed = true
        return [.schedule(.stanza, after: configuration.timeouts.stanza / Self.quartersOfStanza)]
    }

    /// A quarter has passed. The server is told why it is left alone (RFC 6120 §4.9.3.4).
    mutating func stanzaDue() -> [StreamAction] {
        unfinished.isTimed = false
        guard unfinished.isThere else { return [] }
        unfinished.quarters += 1
        guard unfinished.quarters < Self.quartersOfStanza else {
            return [.send(StreamError(.connectionTimeout).element)] + abandon(.timedOut(.stanza))
        }
        return timeStanza()
    }
}
