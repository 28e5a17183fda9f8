// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// `diag`: the way to a server, step by step, on a stream of its own.
enum DiagnosisMethod {
    static func run(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        var (configuration, hasAccount) = try await target(call)
        // Under the name of the session it would end that; and what is examined is the whole way, not the short one.
        configuration.loginMemory = InMemoryLoginMemoryStore()
        configuration.resumesTLS = false
        let report = DiagnosisReport(hasAccount: hasAccount, proxy: configuration.proxy?.description)
        await lookUp(configuration, report)
        let facts = await connect(configuration, report)
        return report.result(target: configuration.jid.domainpart, facts: facts)
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

    private static func lookUp(_ configuration: XMPPConfiguration, _ report: DiagnosisReport) async {
        if let given = configuration.webSocket?.description ?? configuration.host {
            return report.skipped("srv", "the host is given: \(given)")
        }
        if let proxy = configuration.proxy {
            return report.skipped("srv", "\(proxy) looks names up; it cannot be asked for SRV records")
        }
        let start = SystemMoment.now
        do throws(XMPPError) {
            let lines = try await ServiceRecords.lines(for: configuration.jid)
            report.done(
                "srv", SystemMoment.now - start,
                lines.isEmpty ? "no records: the domain itself, port 5222" : lines.joined(separator: "; "))
        } catch {
            report.failed("srv", SystemMoment.now - start, error)
        }
    }

    /// - Returns: What protects the channel, as far as it was reached.
    private static func connect(_ configuration: XMPPConfiguration, _ report: DiagnosisReport) async -> JSONObject {
        var configuration = configuration
        configuration.observer = StreamObserver(milestone: { report.reached($0) })
        let stream = XMPPStream(configuration)
        report.begin()
        do throws(XMPPError) {
            try await stream.connect()
            let time = try await stream.ping()
            report.done("ping", time, "the server answers")
        } catch {
            report.ended(error)
        }
        let facts = await stream.securityDocument()
        await stream.disconnect()
        return facts
    }
}
