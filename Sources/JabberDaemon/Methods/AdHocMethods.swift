// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// `adhoc …`: the commands that services offer (XEP-0050).
enum AdHocMethods {
    /// How many steps one run takes at most; 20. A service that goes on asking is left.
    static let maximumSteps = 20

    static func list(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let asked = try call.parameters.jid("jid")
        let session = try await call.session
        let stream = try await session.established()
        let jid = asked ?? session.jid.domain
        let items = try await session.step { () throws(XMPPError) in try await stream.commands(of: jid) }
        var result = session.heading
        result["jid"] = .string(jid.description)
        result["commands"] = .array(
            items.compactMap { item in
                guard let node = item.node else { return nil }
                return .object(JSONObject(present: ["node": .string(node), "name": item.name.map(JSONValue.string)]))
            })
        return result
    }

    static func run(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let jid = try call.parameters.requiredJID("jid")
        let node = try call.parameters.required("node")
        let answers = try FormDocument.answers("field", in: call.parameters)
        let session = try await call.session
        let stream = try await session.established()
        var step = try await session.step { () throws(XMPPError) in try await stream.runCommand(node, of: jid) }
        var asked: Set<String> = []
        for _ in 0..<maximumSteps where step.status == .executing {
            asked.formUnion(step.form?.fields.compactMap(\.name) ?? [])
            // Without answers the questions are what is wanted to be seen.
            guard !answers.isEmpty || step.form?.kind != .form else { break }
            let filled: DataForm?
            do {
                filled = try step.form.flatMap { form throws(DataFormError) in
                    guard form.kind == .form else { return nil }
                    return try form.filled(answers.filter { form[$0.key] != nil })
                }
            } catch {
                await giveUp(step, stream, jid)
                throw ControlError(.badData, "\(error)", account: session.name)
            }
            let last = step
            let action = step.defaultAction ?? (step.actions.contains(.next) ? .next : .complete)
            step = try await session.step { () throws(XMPPError) in
                try await stream.continueCommand(last, of: jid, action: action, form: filled)
            }
        }
        if step.status == .executing { await giveUp(step, stream, jid) }
        if let unused = answers.keys.filter({ !asked.contains($0) }).min() {
            throw ControlError(
                .badData, "the command did not ask for \"\(unused)\"; it is \(step.status?.rawValue ?? "completed")",
                account: session.name)
        }
        return document(step, jid, session)
    }

    private static func giveUp(_ step: AdHocCommand, _ stream: XMPPStream, _ jid: JID) async {
        _ = try? await stream.continueCommand(step, of: jid, action: .cancel)
    }

    private static func document(_ step: AdHocCommand, _ jid: JID, _ session: AccountSession) -> JSONObject {
        var result = session.heading
        result["jid"] = .string(jid.description)
        result["node"] = .string(step.node)
        result["status"] = .string(step.status?.rawValue ?? "completed")
        result["notes"] = .array(step.notes.map { ["type": .string($0.kind), "text": .string($0.text)] })
        if let form = step.form { result["form"] = .object(FormDocument.form(form)) }
        return result
    }
}
