// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import SocketIO
internal import XMPP

/// What was found out about a domain's service, as `diag` tells it.
enum SurveyDocument {
    /// The keys `dns`, `hostMeta2`, `hostMeta`, `endpoints` and `advice`.
    static func make(_ survey: ServerSurvey) -> JSONObject {
        var document: JSONObject = [:]
        if let names = survey.names {
            document["dns"] = [
                "verifies": .bool(names.canVerify), "answers": .array(names.answers.map { .object(answer($0)) }),
            ]
        }
        for file in survey.publications { document[key(of: file.file)] = .object(publication(file)) }
        document["endpoints"] = .array(survey.endpoints.map { .object(endpoint($0)) })
        if survey.omittedEndpoints > 0 { document["omittedEndpoints"] = .integer(Int64(survey.omittedEndpoints)) }
        document["advice"] = .array(
            survey.advice().map { advice in
                [
                    "severity": .string(advice.severity.rawValue), "subject": .string(advice.subject),
                    "problem": .string(advice.problem), "remedy": .string(advice.remedy),
                ]
            })
        return document
    }

    private static func answer(_ answer: NameReport.Answer) -> JSONObject {
        JSONObject(present: [
            "name": .string(answer.name), "type": .string(answer.type.rawValue),
            "validation": .string(answer.validation.rawValue), "records": strings(answer.records),
            "reason": answer.reason.map(JSONValue.string), "milliseconds": .number(answer.duration.milliseconds),
        ])
    }

    /// The key of a file in which the domain says where else its service is.
    private static func key(of file: ServerSurvey.Publication.File) -> String {
        switch file {
        case .hostMeta2: "hostMeta2"
        case .hostMeta: "hostMeta"
        }
    }

    private static func publication(_ publication: ServerSurvey.Publication) -> JSONObject {
        let isThere = publication.state == .found
        let isDelegation = publication.lifetime != nil
        return JSONObject(present: [
            "state": .string(publication.state.rawValue), "reason": publication.reason.map(JSONValue.string),
            "mediaType": publication.mediaType.map(JSONValue.string),
            "webSockets": isThere && !isDelegation ? strings(publication.webSockets) : Optional.none,
            "bosh": isThere ? .bool(publication.hasBOSH) : Optional.none,
            "ttl": publication.lifetime.map { .integer($0.components.seconds) },
            "places": isDelegation ? .array(publication.places.map { .object(place($0)) }) : Optional.none,
            "pins": isDelegation ? strings(publication.pinnedKeys.map(\.description)) : Optional.none,
        ])
    }

    private static func place(_ place: ServerSurvey.Publication.Place) -> JSONObject {
        [
            "endpoint": .string(place.place.endpoint), "way": .string(word(place.place.way)),
            "priority": .integer(Int64(place.priority)), "name": .string(place.serverName),
        ]
    }

    private static func endpoint(_ endpoint: SurveyedEndpoint) -> JSONObject {
        var document = JSONObject(present: [
            "endpoint": .string(endpoint.place.endpoint), "way": .string(word(endpoint.place.way)),
            "address": endpoint.address.map(JSONValue.string), "ok": .bool(endpoint.isUsable),
            "connectMilliseconds": milliseconds(endpoint.connectionTime),
            "tlsMilliseconds": milliseconds(endpoint.securingTime),
            "featuresMilliseconds": milliseconds(endpoint.featuresTime),
            "redirection": endpoint.redirection.map { .string($0.endpoint) },
            "privateAddress": endpoint.isPrivateAddress ? JSONValue.bool(true) : Optional.none,
            "proofs": .array(endpoint.proofs.map { .object(proof($0)) }),
            "chain": .array(endpoint.certificates.map { .object(certificate($0)) }),
        ])
        if let security = endpoint.security {
            document.merge(
                JSONObject(present: [
                    "version": .string(security.version), "cipher": .string(security.cipher),
                    "alpn": security.applicationProtocol.map(JSONValue.string),
                    "name": security.matchedName.map(JSONValue.string),
                ]))
        }
        if let features = endpoint.features { document.merge(offer(features)) }
        if let error = endpoint.error { document["error"] = .object(ControlError(error).json) }
        return document
    }

    private static func offer(_ features: StreamFeatures) -> JSONObject {
        JSONObject(present: [
            "mechanisms": strings(features.mechanisms),
            "channelBindings": features.channelBindings.map(strings),
            "sasl2": features.offersSASL2 ? strings(features.sasl2Mechanisms) : Optional.none,
            "bind2": features.offersBind2 ? strings(features.bind2Features.sorted()) : Optional.none,
            "fast": features.tokenMechanisms.isEmpty ? Optional.none : strings(features.tokenMechanisms),
            "features": strings(namespaces(features)),
        ])
    }

    /// What is offered, by the namespaces of the elements.
    static func namespaces(_ features: StreamFeatures) -> [String] {
        Set(features.element.children.map(\.namespace)).sorted()
    }

    private static func proof(_ proof: SurveyedEndpoint.Proof) -> JSONObject {
        JSONObject(present: [
            "kind": .string(SecurityDocument.word(proof.kind)), "ok": .bool(proof.refusal == nil),
            "fault": proof.refusal?.certificateFault.map { .string($0.rawValue) },
            "reason": proof.refusal.map { .string($0.message) },
        ])
    }

    private static func certificate(_ certificate: ChannelSecurity.Certificate) -> JSONObject {
        JSONObject(present: [
            "subject": .string(certificate.subject), "issuer": .string(certificate.issuer),
            "notBefore": .string(certificate.notBefore), "notAfter": .string(certificate.notAfter),
            "names": strings(certificate.names), "fingerprint": .string(certificate.fingerprint.hexadecimal),
            "key": certificate.keyFingerprint.map { .string($0.description) },
        ])
    }

    /// How a place is reached, as scripts see it.
    static func word(_ way: StreamPlace.Way) -> String {
        switch way {
        case .startTLS: "starttls"
        case .directTLS: "direct"
        case .webSocket: "websocket"
        }
    }

    /// The key `compliance`.
    static func compliance(_ report: ComplianceReport) -> JSONValue {
        func items(_ items: [ComplianceReport.Item]) -> JSONValue {
            .array(items.map { ["feature": .string($0.feature), "specification": .string($0.specification)] })
        }
        return .array(
            report.rows.map { row in
                [
                    "category": .string(row.category.rawValue), "level": .string(row.level.rawValue),
                    "finding": .string(row.finding.rawValue), "missing": items(row.missing),
                    "unseen": items(row.unseen),
                ]
            })
    }

    private static func strings(_ list: [String]) -> JSONValue { .array(list.map(JSONValue.string)) }

    private static func milliseconds(_ time: Duration?) -> JSONValue? { time.map { .number($0.milliseconds) } }
}
