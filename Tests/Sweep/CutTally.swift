// SPDX-License-Identifier: Apache-2.0

internal import XMPPTestSupport

/// What became of the messages of sessions whose connections were cut.
struct CutTally: Sendable, CustomStringConvertible {
    /// How many connections were cut.
    var cuts = 0
    /// Messages that one side has sent and the other has not got.
    var lost = 0
    /// Messages that somebody got twice, and could not know it.
    var doubled = 0
    /// Messages that came again under the name that the archive has given them (XEP-0359), so that the receiver knows
    /// them.
    var repeated = 0
    /// Sessions in which messages came in another order.
    var disordered = 0
    /// Sessions in which a server that people run has handed out what it had kept in another order.
    var reordered = 0
    /// Sessions that went on where they were.
    var resumed = 0
    /// The longest time that a session took, with its cut.
    var slowest: Duration = .zero

    /// Whether everything arrived once and in order.
    var isClean: Bool { lost + doubled + disordered == 0 }

    static func += (left: inout CutTally, right: CutTally) {
        left.cuts += right.cuts
        left.lost += right.lost
        left.doubled += right.doubled
        left.repeated += right.repeated
        left.disordered += right.disordered
        left.reordered += right.reordered
        left.resumed += right.resumed
        left.slowest = max(left.slowest, right.slowest)
    }

    /// Adds what one side got of what the other has sent.
    mutating func count(_ got: [Arrival], of wanted: [String]) {
        var firsts: [String] = []
        var names: Set<String> = []
        for arrival in got {
            let isKnown = arrival.name.map { !names.insert($0).inserted } ?? false
            if !firsts.contains(arrival.id) {
                firsts.append(arrival.id)
            } else if isKnown {
                repeated += 1
            } else {
                doubled += 1
            }
        }
        lost += wanted.count { !firsts.contains($0) }
        if firsts != wanted.filter(firsts.contains) { disordered += 1 }
    }

    var description: String {
        "cuts \(cuts) lost \(lost) doubled \(doubled) disordered \(disordered) reordered \(reordered) resumed \(resumed) "
            + "repeated \(repeated) slowest \(slowest)"
    }
}

/// A message that somebody got.
struct Arrival: Sendable, Hashable {
    let id: String
    /// The name that an archive has given it.
    var name: String?
}

/// What one session came to.
struct CutOutcome: Sendable {
    /// What the peer got.
    var sent: [Arrival] = []
    /// What came back.
    var received: [Arrival] = []
    var resumed = 0
}

/// Where a connection is cut, and how.
struct Cut: Sendable, CustomStringConvertible {
    enum Ending: Sendable, CaseIterable {
        case reset
        case close
        case stall
    }

    let place: Int
    let direction: LoopbackFault.Direction
    let ending: Ending

    var fault: LoopbackFault {
        switch ending {
        case .reset: .cut(afterBytes: place, direction, .reset)
        case .close: .cut(afterBytes: place, direction, .close)
        case .stall: .stall(afterBytes: place, direction)
        }
    }

    var description: String { "\(ending) after \(place) bytes \(direction)" }
}
