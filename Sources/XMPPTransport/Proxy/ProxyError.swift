// SPDX-License-Identifier: Apache-2.0

internal import SocketIO

/// Why there is no way through a proxy: at which step, and the reason.
package struct ProxyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The steps of the way.
    package enum Phase: String, Sendable, Hashable, CaseIterable {
        /// Connecting to the proxy itself.
        case connecting = "connecting to it"
        /// Agreeing on how to log in to it.
        case greeting = "the greeting"
        /// Logging in to it.
        case login = "the login"
        /// Asking it to connect.
        case request = "the request to connect"
    }

    /// What went wrong.
    package enum Reason: Sendable, Hashable {
        /// It cannot be connected to; the reason.
        case unreachable(String)
        /// It did not answer within this time.
        case silent(Duration)
        /// It closed the connection; the reason, where there is one.
        case closed(String)
        /// It wants a login, of one of these kinds where it names any.
        case loginNeeded([String])
        /// It refuses the name and the password.
        case loginRefused
        /// It cannot or will not connect to that place; in its words, or those of the standard.
        case refused(String)
        /// What it says is not what such a proxy says.
        case malformed(String)
        /// Something cannot be told to such a proxy.
        case unusable(String)
    }

    /// How far it came.
    package let phase: Phase
    /// What went wrong.
    package let reason: Reason

    /// Makes an error.
    package init(_ phase: Phase, _ reason: Reason) {
        self.phase = phase
        self.reason = reason
    }

    /// Whether the proxy did its part and the place behind it is what failed, as far as one can tell: another place may
    /// be within its reach.
    package var concernsTarget: Bool {
        switch reason {
        case .refused: true
        // A proxy that waits for a place in vain falls silent too, or hangs up.
        case .silent, .closed: phase == .request
        case .unreachable, .loginNeeded, .loginRefused, .malformed, .unusable: false
        }
    }

    /// Whether it would fail again until the settings of the proxy change.
    package var concernsSettings: Bool {
        switch reason {
        case .loginNeeded, .loginRefused, .unusable: true
        case .unreachable, .silent, .closed, .refused, .malformed: false
        }
    }

    /// The reason for people; what the proxy said is in it with its control characters made visible.
    package var description: String {
        switch reason {
        case .unreachable(let reason): reason
        case .silent(let time): "it did not answer \(phase.rawValue) within \(time.spoken)"
        case .closed(""): "it hung up during \(phase.rawValue)"
        case .closed(let reason): "it hung up during \(phase.rawValue) (\(reason))"
        case .loginNeeded([]): "it wants a name and a password"
        case .loginNeeded(let kinds):
            "it wants a login of another kind: \(PrintableText.clean(kinds.joined(separator: ", ")))"
        case .loginRefused: "it refuses the name and the password"
        case .refused(let reason): "it does not connect: \(reason)"
        case .malformed(let reason): "it does not speak like such a proxy in \(phase.rawValue): \(reason)"
        case .unusable(let reason): "it cannot be asked: \(reason)"
        }
    }
}
