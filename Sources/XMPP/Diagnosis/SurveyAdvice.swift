// SPDX-License-Identifier: Apache-2.0

public import XMPPCore

/// One fault of a domain's service, with what to do about it.
public struct SurveyAdvice: Sendable, Hashable {
    /// How bad it is.
    public enum Severity: String, Sendable, Hashable, CaseIterable {
        /// Logins fail because of it, or would with a client that looks more closely.
        case fault
        /// Logins will fail because of it, or are less safe.
        case warning
        /// It could be better.
        case hint
    }

    /// How bad it is.
    public var severity: Severity
    /// What it is about: a place, a name, or the domain.
    public var subject: String
    /// What is wrong, as a clause. It may quote the server.
    public var problem: String
    /// What to do about it, as a clause.
    public var remedy: String
}

extension ServerSurvey {
    /// How long before its end a certificate is warned of; 14 days: authorities that give certificates for 90 days ask
    /// for a new one at 30.
    public static let certificateWarning: Duration = .seconds(14 * 86_400)

    /// What is wrong and what to do about it, the worst first; each fault once.
    ///
    /// - Parameter now: The present time.
    public func advice(at now: DateTime = .now) -> [SurveyAdvice] {
        var list = names.map(Self.advice(on:)) ?? []
        if let error { list.append(SurveyAdvice(error, about: domain)) }
        for endpoint in endpoints {
            list += endpoint.advice(at: now)
        }
        if endpoints.contains(where: { $0.place.way == .startTLS && $0.isUsable }),
            names?.answers.contains(where: { $0.type == .service && $0.reason == nil }) == true,
            !endpoints.contains(where: { $0.place.way == .directTLS })
        {
            list.append(
                SurveyAdvice(
                    severity: .hint, subject: domain, problem: "there is no direct TLS",
                    remedy: "offer it and name it in SRV records of _xmpps-client._tcp (XEP-0368): it saves round trips"
                ))
        }
        list += publications.compactMap { $0.advice(about: domain) }
        var seen: Set<SurveyAdvice> = []
        list = list.filter { seen.insert($0).inserted }
        return SurveyAdvice.Severity.allCases.flatMap { severity in list.filter { $0.severity == severity } }
    }

    private static func advice(on names: NameReport) -> [SurveyAdvice] {
        var list: [SurveyAdvice] = []
        for answer in names.answers {
            let subject = "\(answer.name) \(answer.type.rawValue)"
            switch answer.validation {
            case .bogus:
                list.append(
                    SurveyAdvice(
                        severity: .fault, subject: subject,
                        problem: "the signatures of DNS are wrong or missing (\(answer.reason ?? "no reason given"))",
                        remedy: "repair the signatures of the zone, or ask name servers that pass signatures on"))
            case .failed:
                list.append(
                    SurveyAdvice(
                        severity: .warning, subject: subject,
                        problem: answer.reason ?? "the name servers did not answer",
                        remedy: "check the name servers of the zone and those of this machine"))
            case .insecure where answer.type == .key && !answer.records.isEmpty && names.canVerify:
                list.append(
                    SurveyAdvice(
                        severity: .warning, subject: subject,
                        problem: "the record is not signed, and so nobody heeds it",
                        remedy: "sign the zone (RFC 7673 §3.1), or take the record away"))
            case .insecure, .secure: break
            }
        }
        return list
    }
}

extension ServerSurvey.Publication {
    /// What to do about a file that is of no use as it is. To have none is no fault. No `default`: a new state asks for
    /// advice here.
    fileprivate func advice(about domain: String) -> SurveyAdvice? {
        let remedy: String
        switch state {
        case .notAsked, .absent, .unreachable: return nil
        case .found:
            if isFaulty {
                remedy = "correct the file"
            } else if isMislabelled, let mediaType {
                return hint(
                    about: domain, "it is served as \(mediaType)", "serve it as \(file.mediaTypes[0]) (RFC 6415)")
            } else {
                return nil
            }
        case .wrongType: remedy = "let the web server answer 404 where there is no such file"
        case .notHTTPS: remedy = "serve it over HTTPS by the domain itself: no redirection is followed (XEP-0156 §3)"
        case .wrongName: remedy = "get the web server a certificate that is made out to \(domain)"
        case .untrusted: remedy = "get the web server a certificate of an authority, and renew it in time"
        }
        return hint(about: domain, reason ?? state.rawValue, remedy)
    }

    private func hint(about domain: String, _ problem: String, _ remedy: String) -> SurveyAdvice {
        SurveyAdvice(
            severity: .hint, subject: "https://\(domain)\(file.path)", problem: problem, remedy: remedy)
    }
}

extension SurveyedEndpoint {
    fileprivate func advice(at now: DateTime) -> [SurveyAdvice] {
        let subject = address.map { "\(place) at \($0)" } ?? place.description
        func note(_ severity: SurveyAdvice.Severity, _ problem: String, _ remedy: String) -> SurveyAdvice {
            SurveyAdvice(severity: severity, subject: subject, problem: problem, remedy: remedy)
        }
        var list: [SurveyAdvice] = []
        if let error { list.append(SurveyAdvice(error, about: subject)) }
        for proof in proofs where proof.kind == .dane {
            guard let refusal = proof.refusal, refusal != error else { continue }
            list.append(
                note(
                    .fault, "the certificate is not what DNS says: \(refusal.message)",
                    "publish a TLSA record for the present key, and for a next one before it is used (RFC 7671 §8.1)"))
        }
        if isPrivateAddress {
            list.append(
                note(
                    .warning, "the name leads to an address of a private network",
                    "publish the address under which the server can be reached from the internet"))
        }
        if error == nil { list += certificates.compactMap { expiry(of: $0, at: now, note) }.prefix(1) }
        guard let features, let security else { return list }
        if security.version == "TLSv1.2" {
            list.append(note(.hint, "it speaks no TLS 1.3", "enable it: logins take one round trip less"))
        }
        if place.way == .directTLS, security.applicationProtocol == nil {
            list.append(note(.hint, "it agrees on no protocol (ALPN)", "set xmpp-client for this port (XEP-0368 §3)"))
        }
        if !mechanisms.isEmpty, !mechanisms.contains(where: { $0.hasPrefix("SCRAM-") || $0 == "EXTERNAL" }) {
            list.append(
                note(.warning, "passwords reach it as they are", "offer SCRAM-SHA-256 and store its keys (RFC 7677)"))
        } else if !mechanisms.contains(where: { $0.hasSuffix("-PLUS") }) {
            list.append(
                note(
                    .hint, "logins cannot be bound to the channel",
                    "offer SCRAM-SHA-256-PLUS with tls-exporter (RFC 9266)"))
        } else if features.channelBindings == nil {
            list.append(
                note(.hint, "it does not say which channel bindings it takes", "announce them (XEP-0440)"))
        }
        return list
    }

    private func expiry(
        of certificate: ChannelSecurity.Certificate, at now: DateTime,
        _ note: (SurveyAdvice.Severity, String, String) -> SurveyAdvice
    ) -> SurveyAdvice? {
        guard let end = DateTime(certificate.notAfter) else { return nil }
        let rest = Duration.milliseconds(end.millisecondsSinceEpoch - now.millisecondsSinceEpoch)
        guard rest < ServerSurvey.certificateWarning else { return nil }
        if rest < .zero {
            return note(
                .warning, "the certificate of \(certificate.subject) expired on \(certificate.notAfter)", "renew it")
        }
        let days = rest.components.seconds / 86_400
        return note(
            .warning,
            "the certificate of \(certificate.subject) expires "
                + (days == 0 ? "in less than a day" : "in \(days) \(days == 1 ? "day" : "days")") + ", on "
                + certificate.notAfter,
            "renew it, and see why that has not happened by itself")
    }
}

extension SurveyAdvice {
    /// What to do about a place that cannot be used.
    fileprivate init(_ error: XMPPError, about subject: String) {
        self.init(severity: .fault, subject: subject, problem: error.message, remedy: Self.remedy(error))
    }

    /// What to do about an error on the way to a server. No `default`: a new code asks for advice here.
    static func remedy(_ error: XMPPError) -> String {
        switch error.code {
        case .hostNotFound: "check the spelling of the domain; give the host that its SRV records name an address"
        case .resolverFailed: "check the network and its name servers"
        case .serviceUnavailable: "ask for a server elsewhere: this domain says by its SRV records that it has none"
        case .connectionFailed:
            "start the server there, open the port in the firewall, or take the record away that leads there"
        case .proxyFailed: "check the proxy"
        case .timedOut: "see whether a firewall drops packets to this port, or the server is overloaded"
        case .tlsUnavailable: "give the server a certificate and let it offer STARTTLS (RFC 7590 §3.1)"
        case .tlsFailed: "see whether the port speaks this kind of TLS, and at least TLS 1.2"
        case .certificateRejected: remedy(error.certificateFault ?? .other)
        case .noMechanism: "let the server offer SCRAM-SHA-256 (RFC 7677)"
        case .channelBindingFailed: "see whether the server offers this too, or somebody in between (XEP-0440)"
        case .authenticationRefused, .authenticationDeferred, .serverNotAuthenticated, .bindingFailed:
            "check the account and its password"
        case .streamError, .protocolViolation: "see the server's log: it ended the stream, or broke its rules"
        case .connectionLost: "see the server's log for why it closes connections"
        case .stanzaError, .notConnected, .invalidStanza, .tooLarge, .overflow, .storageFailed, .cancelled:
            "try again"
        case .invalidConfiguration: "correct the settings of the account"
        }
    }

    private static func remedy(_ fault: XMPPError.CertificateFault) -> String {
        switch fault {
        case .name:
            "get a certificate that is made out to the domain of the addresses, not to the host (RFC 6120 §13.7.2.1)"
        case .expired: "renew the certificate, and reload the server: it may still show the old one"
        case .notYetValid: "check the clocks of both sides"
        case .selfSigned: "get a certificate of an authority; or name this one with --ca, or its key with --pin"
        case .issuer:
            "send the certificates between the server's and the authority's along with it, or name the authority"
        case .key: "see whether the key was changed with good reason, and pin the new one then"
        case .revoked: "get a new certificate for a new key"
        case .other: "get a certificate for a server, of an authority, with a key of 2,048 bits at least"
        }
    }
}
