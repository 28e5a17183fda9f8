// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import SocketIO
internal import XMPP

/// How far a way to a session has come, so that whoever ran out of time on it is told where that was, and in which part
/// of the way.
final class LoginProgress: Sendable {
    private struct State {
        var phase: LoginPhase.Name?
        var places: [String] = []
    }

    /// How many places are named that no connection was had to; 3.
    private static let maximumNamed = 3

    private let state = Locked(State())

    /// A login begins.
    func begin() {
        state.withLock { $0 = State(phase: .lookup) }
    }

    /// There is no login under way any more.
    func end() {
        state.withLock { $0 = State() }
    }

    /// The stream has come further, or has to begin again at another place.
    func reached(_ milestone: StreamMilestone) {
        state.withLock { state in
            switch milestone {
            case .resolved(let places): state = State(phase: .connection, places: places.map(\.endpoint))
            case .redirected(let place): state = State(phase: .connection, places: [place.endpoint])
            case .connected(let place): state = State(phase: .tls, places: [place.endpoint])
            case .secured: state.phase = .authentication
            case .authenticated: state.phase = .session
            case .established: state = State()
            case .failed(let place, _):
                // Which one is next is not known: the others are.
                state.places.removeAll { $0 == place.endpoint }
                state.phase = .connection
            case .offered: break
            }
        }
    }

    /// What there is to say when time is up; `nil` when no login is under way.
    ///
    /// - Parameters:
    ///   - domain: The domain that is logged in to.
    ///   - account: Whose login it is.
    func delay(at domain: String, account: String? = nil) -> ControlError? {
        let state = state.withLock { $0 }
        guard let phase = state.phase else { return nil }
        let endpoint = state.places.first
        let message =
            switch phase {
            case .lookup: "No name server has said in time where \(domain) is."
            case .connection:
                "No connection for \(domain) in time" + (state.places.isEmpty ? "." : ": \(Self.list(state.places)).")
            case .tls, .authentication, .session: "No answer of \(domain) in time."
            }
        return ControlError(XMPPError(.timedOut, message).placed(at: endpoint, in: phase), account: account)
    }

    private static func list(_ places: [String]) -> String {
        let rest = places.count - maximumNamed
        return places.prefix(maximumNamed).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }
}

/// What a request waits for, as far as there is something to tell when its time is up.
final class Delay: Sendable {
    private let reason = Locked<(@Sendable () -> ControlError?)?>(nil)

    /// Asks here when time is up.
    func follow(_ reason: @escaping @Sendable () -> ControlError?) {
        self.reason.withLock { $0 = reason }
    }

    /// A time that was up, with what was waited for.
    func explained(_ error: ControlError) -> ControlError {
        guard error == Race.late else { return error }
        return reason.withLock { $0 }?() ?? error
    }
}
