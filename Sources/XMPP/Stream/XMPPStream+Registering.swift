// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPProtocol

/// Streams without a login: what is asked before there is an account (XEP-0077 §3.1.1).
extension XMPPStream {
    /// Whether requests can be sent that come before a login.
    var isRegistering: Bool {
        if case .registering = phase { true } else { false }
    }

    /// What the server offers to those who have not logged in; `nil` when there is no such stream.
    var offerBeforeLogin: StreamFeatures? {
        if case .registering(let features) = phase { features } else { nil }
    }

    /// The channel is secure, and there will be no login.
    func beganRegistering(_ features: StreamFeatures) {
        phase = .registering(features)
        log(.step, "secure, and nobody logs in")
        watchCertificate(at: .now)
        let waiter = attempt
        attempt = nil
        waiter?.resume(returning: .established(account))
    }

    /// Sends a request that comes before a login and waits for its answer, as ``request(_:timeout:)``.
    func requestBeforeLogin(_ request: IQ, timeout: Duration = .seconds(30)) async throws(XMPPError) -> IQ {
        guard isRegistering else { throw disconnection ?? .notConnected }
        var request = request
        let id = newStanzaID()
        request.id = id
        guard requests.sending(id: id, to: request.to) else {
            throw XMPPError(.overflow, "Too many requests wait for an answer; try again later.")
        }
        unawaited.insert(id)
        perform(machine.sendUnauthenticated(request.element))
        endTurn()
        return try await answer(to: id, asked: request.to, timeout: timeout)
    }
}
