// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPP

/// A moment of the monotonic clock.
struct SystemMoment: Sendable, Comparable {
    private let time: Duration

    private init(_ time: Duration) {
        self.time = time
    }

    static var now: SystemMoment { SystemMoment(SystemClock().now) }

    static func + (moment: SystemMoment, span: Duration) -> SystemMoment { SystemMoment(moment.time + span) }
    static func - (moment: SystemMoment, span: Duration) -> SystemMoment { SystemMoment(moment.time - span) }
    static func - (later: SystemMoment, earlier: SystemMoment) -> Duration { later.time - earlier.time }
    static func < (left: SystemMoment, right: SystemMoment) -> Bool { left.time < right.time }
}

extension Duration {
    /// In milliseconds, to the microsecond, for results.
    var milliseconds: Double { (inSeconds * 1_000_000).rounded() / 1_000 }
}

extension DateTime {
    /// How long it is until then, as people say it.
    var fromNow: String {
        Duration.milliseconds(millisecondsSinceEpoch - DateTime.now.millisecondsSinceEpoch).spoken
    }
}
