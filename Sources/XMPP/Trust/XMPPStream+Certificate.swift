// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPProtocol

/// A certificate may come to its end before the stream does (RFC 6120 §13.7.2.3).
extension XMPPStream {
    /// After how long at most the calendar is looked at: a timer does not run while the machine sleeps, and clocks are
    /// set.
    private static let maximumCertificateDelay: Duration = .seconds(86_400)

    /// The end of the first certificate to end among those that prove the server; `nil` where dates prove nothing: a
    /// key does that is named by the account or by DNS.
    var certificateEnd: DateTime? {
        guard let security, security.proof == .authority else { return nil }
        return security.certificates.compactMap { DateTime($0.notAfter) }.min()
    }

    /// Sees to it that the stream ends with the certificate.
    func watchCertificate(at now: DateTime) {
        guard let end = certificateEnd else { return }
        // One more, so that its last moment is over.
        let rest = Duration.milliseconds(max(0, end.millisecondsSinceEpoch - now.millisecondsSinceEpoch) + 1)
        schedule(.certificate, after: min(rest, Self.maximumCertificateDelay))
    }

    /// Looks at the calendar: ends the stream when the certificate has ended, and goes on watching otherwise.
    func certificateDue(at now: DateTime) {
        // It is valid up to this moment, and at it (RFC 5280 §4.1.2.5).
        guard let end = certificateEnd, now > end else { return watchCertificate(at: now) }
        perform(machine.timerFired(.certificate))
        endTurn()
    }
}
