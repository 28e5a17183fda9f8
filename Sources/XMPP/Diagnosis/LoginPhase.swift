// SPDX-License-Identifier: Apache-2.0

internal import SocketIO

/// A part of the way to a session, and what it cost.
public struct LoginPhase: Sendable, Hashable {
    /// The parts, in order.
    public enum Name: String, Sendable, Hashable, CaseIterable {
        /// Asking name servers where to go.
        case lookup
        /// From there to an open connection.
        case connection
        /// To a channel that is secured, the stream before STARTTLS included.
        case tls
        /// To the proof of both sides who they are.
        case authentication
        /// To the session: the resource is bound, or the session of before resumed. Nothing is left for it where that
        /// came together with the login (XEP-0386).
        case session
    }

    /// Which part it is.
    public var name: Name
    /// How long it took.
    public var duration: Duration
    /// How often one side had to wait for the other meanwhile, on the connection: that of TCP itself is not counted.
    public var roundTrips: Int
}

extension XMPPStream {
    /// What is measured of the way to a session.
    struct LoginClock {
        /// When the present part began.
        var begin: Duration
        /// The round trips until then.
        var roundTrips = 0
    }

    /// The next part of the way begins now.
    ///
    /// - Parameter isAnew: Whether what was measured of an earlier attempt is dropped, the look-up excepted.
    func beginPhase(isAnew: Bool = false) {
        loginClock = LoginClock(begin: configuration.clock.now)
        if isAnew { loginPhases.removeAll { $0.name != .lookup } }
    }

    /// A milestone is reached: the part of the way before it has ended.
    func measure(_ milestone: StreamMilestone) {
        let name: LoginPhase.Name
        switch milestone {
        case .resolved:
            // Where further places were asked for later, that belongs to the first question.
            guard loginPhases.isEmpty else { return }
            name = .lookup
        case .connected: name = .connection
        case .secured: name = .tls
        case .authenticated: name = .authentication
        case .established: name = .session
        case .offered, .redirected, .failed: return
        }
        let (now, trips) = (configuration.clock.now, transport?.roundTrips ?? 0)
        loginPhases.append(
            LoginPhase(
                name: name, duration: now - loginClock.begin,
                roundTrips: name == .lookup || name == .connection ? 0 : max(0, trips - loginClock.roundTrips)))
        loginClock.begin = now
        loginClock.roundTrips = name == .lookup || name == .connection ? 0 : trips
    }
}
