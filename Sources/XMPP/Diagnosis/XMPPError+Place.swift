// SPDX-License-Identifier: Apache-2.0

internal import XMPPProtocol

extension XMPPError {
    /// The same with where it happened on the way to a session. Who knows first is right: a place that is known stays.
    ///
    /// - Parameters:
    ///   - endpoint: `host:port`, or the address of a WebSocket; `nil` where it was at no place.
    ///   - phase: The part of the way.
    ///   - isTold: Whether the message says so too; a place that it names already is not named again.
    package func placed(at endpoint: String?, in phase: LoginPhase.Name, isTold: Bool = true) -> XMPPError {
        guard self.phase == nil, code != .cancelled else { return self }
        var error = self
        (error.endpoint, error.phase) = (endpoint, phase)
        guard isTold, let endpoint, let clause = phase.clause else { return error }
        error.message += message.contains(endpoint) ? " (That was \(clause).)" : " (At \(endpoint), \(clause).)"
        return error
    }
}

extension LoginPhase.Name {
    /// The part of the way in a sentence; `nil` where messages tell which it was.
    fileprivate var clause: String? {
        switch self {
        case .lookup, .connection: nil
        case .tls: "during TLS"
        case .authentication: "during the login"
        case .session: "at the start of the session"
        }
    }
}

extension XMPPStream {
    /// The part of the way to a session that has not come to its end.
    var presentPhase: LoginPhase.Name {
        switch loginPhases.last?.name {
        case nil: return .lookup
        case .lookup: return .connection
        case .connection:
            // Where the login may be in the clear, features without TLS are those of the login.
            let isInTheClear = configuration.securityPolicy != .tlsRequired && attemptGotFeatures && security == nil
            return isInTheClear ? .authentication : .tls
        case .tls: return .authentication
        case .authentication, .session: return .session
        }
    }

    /// An error of the present attempt, with the place and the part of the way.
    func placed(_ error: XMPPError) -> XMPPError {
        error.placed(at: endpoint, in: presentPhase, isTold: !configuration.looksOnly)
    }
}
