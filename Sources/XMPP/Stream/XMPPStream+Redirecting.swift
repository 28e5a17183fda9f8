// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPTransport
internal import XMPPXML

extension XMPPStream {
    /// How often one login lets servers send it on to another place; 5.
    package static let maximumRedirections = 5

    /// Tries a place, and the places that the servers there send this client on to (RFC 6120 §4.9.3.19, RFC 7395
    /// §3.6.1).
    ///
    /// Only who has proven the domain is believed, and the next one has to prove it again: the same stream, under the
    /// same rules, at another door. Behind a redirection no other place of the domain is tried, since they would say
    /// the same.
    ///
    /// - Parameter scout: The one that has found a live stream at the place already.
    /// - Returns: What became of it at the last place.
    func reach(
        _ target: ConnectionTarget, _ context: TLSContext, beginningWith scout: StreamScout? = nil
    ) async -> AttemptOutcome {
        var here = target
        var count = 0
        var outcome = if let scout { await adopt(scout, context) } else { await tryPlace(here, context) }
        while case .failed(let error?, _) = outcome, error.streamError?.condition == .seeOtherHost {
            let next: ConnectionTarget
            do throws(XMPPError) {
                next = try redirection(error, at: here)
            } catch {
                return .failed(error, .domain)
            }
            guard count < Self.maximumRedirections else {
                return .failed(
                    error.saying("sends us from one host to the next without end, the last time to \(next)"),
                    .domain)
            }
            count += 1
            log(.step, "sent on to \(next) by \(here)")
            reached(.redirected(StreamPlace(next)))
            here = next
            outcome = await tryPlace(here, context)
        }
        guard count > 0, case .failed(var error?, _) = outcome else { return outcome }
        error.message = "Sent on from \(target) to \(here). " + error.message
        return .failed(error, .domain)
    }

    /// Where a server sends this client on to.
    ///
    /// - Throws: The error with the reason why that is not followed.
    private func redirection(_ error: XMPPError, at here: ConnectionTarget) throws(XMPPError) -> ConnectionTarget {
        guard security != nil else {
            throw error.saying(
                "is said to be at another host, before TLS; anybody could have said that, so it was not followed")
        }
        let place = error.streamError?.conditionText?.trimmedOfXMLWhitespace ?? ""
        let next: ConnectionTarget?
        switch here.security {
        // RFC 7395 §3.6.1: never to less security, so to `wss` alone.
        case .webSocket: next = WebSocketAddress(place).map { ConnectionTarget($0) }
        case .startTLS, .directTLS: next = ConnectionTarget(location: place, security: here.security)
        }
        guard let next else {
            throw error.saying("sends us on to “\(PrintableText.clean(place))”, which is no place to go to")
        }
        return next
    }
}

extension XMPPError {
    /// The same error of a server, told in another way.
    fileprivate func saying(_ predicate: String) -> XMPPError {
        var error = self
        // The message begins with the domain.
        error.message = "\(String(message.unicodeScalars.prefix { $0 != " " })) \(predicate)."
        guard let phase else { return error }
        (error.endpoint, error.phase) = (nil, nil)
        return error.placed(at: endpoint, in: phase)
    }
}
