// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import SocketIO
internal import XMPP

/// `diag`: what a domain's service looks like from here, and the way to a session there, step by step, on a stream of
/// its own.
enum DiagnosisMethod {
    /// The part of the caller's time that goes to looking; the rest is left for telling, on a machine that is busy too.
    private static let share = 0.75

    static func run(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let (configuration, hasAccount) = try await target(call)
        return await examine(configuration, hasAccount: hasAccount, within: (call.patience ?? .seconds(60)) * share)
    }

    /// Takes a survey, and goes the way to a session beside it.
    ///
    /// - Parameters:
    ///   - configuration: An account, or a domain without one.
    ///   - hasAccount: Which of them it is.
    ///   - limit: How long that may take.
    /// - Returns: The result of the method.
    static func examine(
        _ configuration: XMPPConfiguration, hasAccount: Bool, within limit: Duration
    ) async -> JSONObject {
        var configuration = configuration
        // Under the name of the session it would end that; and what is examined is the whole way, not the short one.
        configuration.loginMemory = InMemoryLoginMemoryStore()
        configuration.resumesTLS = false
        // Without an account nobody logs in, not even where no account is needed.
        configuration.looksOnly = !hasAccount
        let report = DiagnosisReport(hasAccount: hasAccount, proxy: configuration.proxy?.description)
        let examined = configuration
        async let surveyed = ServerSurvey.take(of: examined, within: limit)
        let (facts, evidence) = await connect(examined, report, within: limit)
        let survey = await surveyed
        tell(survey.names, configuration, report)
        var result = report.result(target: configuration.jid.domainpart, facts: facts)
        result.merge(SurveyDocument.make(survey))
        if var evidence {
            survey.complete(&evidence)
            result["compliance"] = SurveyDocument.compliance(ComplianceReport(evidence))
        }
        return result
    }

    /// What is examined: an account, or a domain without one.
    private static func target(
        _ call: MethodCall
    ) async throws(ControlError) -> (XMPPConfiguration, hasAccount: Bool) {
        guard let target = try call.parameters.string("target") else {
            return (try await call.session.configuration(), true)
        }
        var selection = call.selection
        selection.account = target
        selection.jid = nil
        do throws(ControlError) {
            let session = try await call.daemon.session(for: selection)
            // A password that the user gave was given for the request's own session.
            let given = try? await call.session.knownPassword
            return (try await session.configuration(password: given), true)
        } catch {
            guard error.code == .accountNotFound, !target.contains("@") else { throw error }
        }
        var account = AccountConfiguration(name: target, jid: try Parameters.jid(target).domainpart)
        selection.override(&account)
        return (try SessionSettings(account).configuration, false)
    }

    /// The step `srv`.
    private static func tell(_ names: NameReport?, _ configuration: XMPPConfiguration, _ report: DiagnosisReport) {
        guard let names else {
            let reason =
                if let given = configuration.webSocket?.description ?? configuration.host {
                    "the host is given: \(given)"
                } else if let proxy = configuration.proxy {
                    "\(proxy) looks names up; it cannot be asked for SRV records"
                } else {
                    "no name servers are asked"
                }
            return report.skipped("srv", reason)
        }
        let answers = names.answers.filter { $0.type == .service }
        let time = answers.map(\.duration).max()
        let lines = answers.flatMap { answer in
            let labels = answer.name.unicodeScalars.split(separator: ".").prefix(2).map { String($0) }
            return answer.records.map { "\(labels.joined(separator: ".")) \($0)" }
        }
        if !answers.isEmpty, answers.allSatisfy({ $0.reason != nil }), let reason = answers.first?.reason {
            return report.failed("srv", time, reason)
        }
        report.done(
            "srv", time, lines.isEmpty ? "no records: the domain itself, port 5222" : lines.joined(separator: "; "))
    }

    /// - Returns: What protects the channel, as far as it was reached, and what the server has, where a session was.
    private static func connect(
        _ configuration: XMPPConfiguration, _ report: DiagnosisReport, within limit: Duration
    ) async -> (JSONObject, ComplianceEvidence?) {
        var configuration = configuration
        configuration.observer = StreamObserver(milestone: { report.reached($0) })
        let stream = XMPPStream(configuration)
        report.begin()
        let start = SystemMoment.now
        var evidence: ComplianceEvidence?
        do {
            try await Race.run(within: limit) { () throws(ControlError) in
                do throws(XMPPError) {
                    try await stream.connect()
                    let time = try await stream.ping()
                    report.done("ping", time, "the server answers")
                } catch {
                    // Who called it off has something better to tell.
                    if error.code != .cancelled { report.ended(error) }
                }
            }
            if await stream.isEstablished {
                let rest = max(.milliseconds(1), limit - (SystemMoment.now - start))
                evidence = try await Race.run(within: rest) { () throws(ControlError) in
                    await stream.complianceEvidence()
                }
            }
        } catch {
            report.ended(XMPPError(.timedOut, "There was no session within \(limit.spoken)."))
        }
        var facts = await stream.securityDocument()
        if let features = await stream.features {
            facts["features"] = .array(SurveyDocument.namespaces(features).map(JSONValue.string))
        }
        await stream.disconnect()
        return (facts, evidence)
    }
}
