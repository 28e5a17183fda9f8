// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import SocketIO
internal import XMPP

/// The steps of a diagnosis, with what was found and how long each took.
final class DiagnosisReport: Sendable {
    /// The steps in the order in which they are taken.
    static let steps = ["srv", "connect", "tls", "certificate", "stream", "login", "bind", "ping"]

    private struct State {
        var steps: [(name: String, document: JSONObject)] = []
        var last = SystemMoment.now
        var places: [StreamPlace] = []
        var losers: [(place: StreamPlace, reason: String)] = []
        var present: StreamPlace?
        var winner: StreamPlace?
        var features: StreamFeatures?
        var error: ControlError?
    }

    private let hasAccount: Bool
    private let proxy: String?
    private let state = Locked(State())

    init(hasAccount: Bool, proxy: String? = nil) {
        self.hasAccount = hasAccount
        self.proxy = proxy
    }

    /// The clock of the next step starts.
    func begin() {
        state.withLock { $0.last = .now }
    }

    /// A step went well.
    func done(_ step: String, _ time: Duration?, _ detail: String) {
        note(step, "ok", time, detail)
    }

    /// A step was not taken.
    func skipped(_ step: String, _ detail: String) {
        note(step, "skipped", nil, detail)
    }

    /// A step failed; what comes after it may be tried all the same.
    func failed(_ step: String, _ time: Duration?, _ reason: String) {
        note(step, "failed", time, reason)
    }

    /// The stream has come further.
    func reached(_ milestone: StreamMilestone) {
        switch milestone {
        case .resolved(let places):
            state.withLock { state in state.places += places.filter { !state.places.contains($0) } }
            if places.count > 1 {
                done("srv", nil, "in this order: " + places.map(\.description).joined(separator: ", "))
            }
            begin()
        case .connected(let place):
            state.withLock { $0.present = place }
            done("connect", lap(), place.description + (proxy.map { " through \($0)" } ?? ""))
        case .secured(let security):
            done(
                "tls", lap(), "\(security.version), \(security.cipher)\(security.isResumed ? ", resumed" : "")")
            done("certificate", nil, Self.describe(security))
        case .offered(let features):
            offered(features)
            state.withLock { if features.offersKnownMechanism { $0.winner = $0.present } }
        case .authenticated(let mechanism):
            done("login", lap(), "with \(mechanism); \(offers)")
        case .established(let jid):
            done("bind", lap(), "\(jid)")
        case .redirected(let place):
            done("stream", lap(), "the server sends us on to \(place)")
        case .failed(let place, let error):
            state.withLock { $0.losers.append((place, Self.text(of: error))) }
            // Of a single place the end of the attempt tells.
            guard state.withLock({ $0.places.count > 1 }) else { return }
            note("connect", "failed", lap(), "\(place): \(Self.text(of: error))")
        }
    }

    private func offered(_ features: StreamFeatures) {
        let isSecondTime = state.withLock { state in
            let isBeforeLogin = features.offersSASL || features.offersSASL2
            defer { state.features = isBeforeLogin ? features : state.features }
            return !isBeforeLogin
        }
        // Before TLS there is nothing but the offer of TLS; behind the login the features are those of the session.
        if isSecondTime { return }
        done("stream", lap(), offers)
    }

    private var offers: String {
        let features = state.withLock { $0.features }
        let newer = features?.sasl2Mechanisms ?? []
        let mechanisms = newer + (features?.mechanisms ?? []).filter { !newer.contains($0) }
        guard !mechanisms.isEmpty else { return "no mechanisms offered" }
        let bindings = features?.channelBindings.map { "; channel bindings: \($0.joined(separator: ", "))" } ?? ""
        return "offered: \(mechanisms.joined(separator: ", "))\(bindings)\(newer.isEmpty ? "" : "; SASL2")"
    }

    /// The attempt ended with an error: the first step that was not reached is the one that failed.
    func ended(_ error: XMPPError) {
        let reached = state.withLock { Set($0.steps.map(\.name)) }
        let isMissingAccount =
            !hasAccount && error.code == .noMechanism
            && state.withLock { $0.features?.offersKnownMechanism == true }
        if isMissingAccount {
            for step in ["login", "bind", "ping"] where !reached.contains(step) { skipped(step, "no account") }
            return
        }
        let failed = Self.step(of: error, reached: reached)
        let isTold = state.withLock { state in
            state.error = ControlError(error)
            return state.steps.contains { $0.name == failed && $0.document["state"] == "failed" }
        }
        if !isTold { note(failed, "failed", lap(), Self.text(of: error)) }
        let done = state.withLock { Set($0.steps.map(\.name)) }
        // What name servers say is told by itself.
        for step in Self.steps.dropFirst() where !done.contains(step) { skipped(step, "not reached") }
    }

    /// What went wrong, with the key of a certificate that was refused: whoever knows it may pin it.
    private static func text(of error: XMPPError) -> String {
        guard let key = error.presentedKey?.description, !error.message.contains(key) else { return error.message }
        return error.message + " The SHA-256 fingerprint of the key that it showed is \(key)."
    }

    private static func step(of error: XMPPError, reached: Set<String>) -> String {
        switch error.code {
        case .certificateRejected: "certificate"
        case .tlsFailed, .tlsUnavailable: "tls"
        case .noMechanism, .channelBindingFailed, .authenticationRefused, .authenticationDeferred,
            .serverNotAuthenticated:
            "login"
        case .bindingFailed: "bind"
        case .hostNotFound, .resolverFailed, .serviceUnavailable, .connectionFailed, .proxyFailed: "connect"
        case .streamError where !reached.contains("stream"): "stream"
        default: steps.dropFirst().first { !reached.contains($0) } ?? "ping"
        }
    }

    /// The result of the method.
    ///
    /// - Parameter facts: What else is known of the connection.
    func result(target: String, facts: JSONObject) -> JSONObject {
        let (steps, error) = state.withLock { ($0.steps, $0.error) }
        func place(_ name: String) -> Int {
            Self.steps.firstIndex(of: name) ?? 0
        }
        // The order of the way; several attempts stay in their order.
        let ordered = steps.enumerated().sorted { left, right in
            (place(left.element.name), left.offset) < (place(right.element.name), right.offset)
        }
        var result: JSONObject = [
            "api": .integer(Int64(ProductVersion.api.upperBound)), "target": .string(target),
            "ok": .bool(error == nil), "steps": .array(ordered.map { .object($0.element.document) }),
        ]
        result["race"] = .object(race)
        result.merge(facts)
        if let error { result["error"] = .object(error.json) }
        return result
    }

    /// Which places a login would try, in order, which of them failed, and which won and why.
    private var race: JSONObject {
        let (places, losers, winner) = state.withLock { state in
            var losers = state.losers
            // What ended the whole attempt happened at the place that it was at.
            if state.winner == nil, let error = state.error, let place = state.present {
                losers.append((place, error.message))
            }
            return (state.places, losers, state.winner)
        }
        func document(_ place: StreamPlace) -> JSONObject {
            ["endpoint": .string(place.endpoint), "way": .string(SurveyDocument.word(place.way))]
        }
        var race: JSONObject = [
            "places": .array(
                places.map { place -> JSONValue in
                    var object = document(place)
                    let reason = losers.first { $0.place == place }?.reason
                    let word = place == winner ? "won" : reason != nil ? "failed" : "untried"
                    object["state"] = .string(word)
                    if let reason, place != winner { object["reason"] = .string(reason) }
                    return .object(object)
                })
        ]
        if let winner {
            var object = document(winner)
            let why =
                places.first == winner
                ? "it comes first, and answered in time"
                : places.contains(winner) ? "those before it failed, or were slower" : "the server sent us on to it"
            object["why"] = .string(why)
            race["winner"] = .object(object)
        }
        return race
    }

    private func lap() -> Duration {
        state.withLock { state in
            let now = SystemMoment.now
            defer { state.last = now }
            return now - state.last
        }
    }

    private func note(_ step: String, _ word: String, _ time: Duration?, _ detail: String) {
        let document = JSONObject(present: [
            "step": .string(step), "state": .string(word), "milliseconds": time.map { .number($0.milliseconds) },
            "detail": .string(detail),
        ])
        state.withLock { $0.steps.append((step, document)) }
    }

    private static func describe(_ security: ChannelSecurity) -> String {
        let proof =
            switch security.proof {
            case .authority: security.matchedName.map { "proved by the name \($0)" } ?? "proved"
            case .pinnedKey: "proved by its key, which the account names"
            case .dane: "proved by what DNS says, signed"
            }
        return "\(security.subject), issued by \(security.issuer), valid until \(security.notAfter), \(proof); names: "
            + "\(security.names.joined(separator: ", ")); SHA-256 \(security.fingerprint.hexadecimal), of the key "
            + (security.keyFingerprint?.description ?? "unknown")
            + security.certificates.dropFirst().map { "; above it \($0.subject), valid until \($0.notAfter)" }.joined()
    }
}
