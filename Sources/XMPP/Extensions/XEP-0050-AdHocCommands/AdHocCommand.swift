// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// One step of a command that another entity offers, in either direction (XEP-0050).
public struct AdHocCommand: StanzaPayload, Hashable {
    /// The namespace of commands, and the node under which they are listed.
    public static let namespace = "http://jabber.org/protocol/commands"
    /// The name of the `<command/>` element.
    public static let elementName = ElementName("command", namespace: namespace)

    /// What is to be done next (XEP-0050 §3.4).
    public enum Action: String, Sendable, Hashable, CaseIterable {
        /// Gives the command up.
        case cancel
        /// Ends it with what was filled in.
        case complete
        /// Begins, or does what is usual in the present step.
        case execute
        /// Goes on to the next step.
        case next
        /// Goes back to the step before.
        case prev
    }

    /// How far a command has come.
    public enum Status: String, Sendable, Hashable, CaseIterable {
        /// It waits for the next step.
        case executing
        /// It is done.
        case completed
        /// It was given up.
        case canceled
    }

    /// Something to tell people.
    public struct Note: Sendable, Hashable {
        /// How much it matters: `info`, `warn` or `error`.
        public var kind: String
        /// The text.
        public var text: String

        /// Makes a note.
        public init(_ text: String, kind: String = "info") {
            self.kind = kind
            self.text = text
        }
    }

    /// Which command.
    public var node: String
    /// Which run of it; given by whoever runs it.
    public var sessionID: String?
    /// How far it has come; in answers.
    public var status: Status?
    /// What is to be done; in requests.
    public var action: Action?
    /// What may be done next, besides giving up.
    public var actions: Set<Action>
    /// What ``Action/execute`` means in this step.
    public var defaultAction: Action?
    /// What is to be told to people.
    public var notes: [Note]
    /// The questions of the step, the answers to them, or the outcome.
    public var form: DataForm?

    /// Makes a step.
    public init(
        _ node: String, sessionID: String? = nil, status: Status? = nil, action: Action? = nil,
        actions: Set<Action> = [], defaultAction: Action? = nil, notes: [Note] = [], form: DataForm? = nil
    ) {
        self.node = node
        self.sessionID = sessionID
        self.status = status
        self.action = action
        self.actions = actions
        self.defaultAction = defaultAction
        self.notes = notes
        self.form = form
    }

    /// Reads a `<command/>` element; `nil` when it names no command, or has an action or a status that does not exist.
    public init?(_ element: Element) {
        guard element.name == Self.elementName, let node = element["node"] else { return nil }
        self.init(node, sessionID: element["sessionid"])
        if let word = element["status"] {
            guard let known = Status(rawValue: word) else { return nil }
            status = known
        }
        if let word = element["action"] {
            guard let known = Action(rawValue: word) else { return nil }
            action = known
        }
        if let list = element.firstChild("actions", namespace: Self.namespace) {
            actions = Set(list.children.compactMap { Action(rawValue: $0.localName) })
            defaultAction = list["execute"].flatMap(Action.init)
        }
        notes = element.children("note", namespace: Self.namespace).map { Note($0.text, kind: $0["type"] ?? "info") }
        form = element.children.lazy.compactMap(DataForm.init).first
    }

    /// The `<command/>` element.
    public var element: Element {
        var command = Element(
            Self.elementName,
            attributes: [
                "node": node, "sessionid": sessionID, "status": status?.rawValue, "action": action?.rawValue,
            ])
        if !actions.isEmpty {
            command.append(
                Element(
                    "actions", namespace: Self.namespace, attributes: ["execute": defaultAction?.rawValue],
                    children: actions.sorted { $0.rawValue < $1.rawValue }.map {
                        Element($0.rawValue, namespace: Self.namespace)
                    }))
        }
        for note in notes {
            var child = Element("note", namespace: Self.namespace, text: note.text)
            child["type"] = note.kind
            command.append(child)
        }
        if let form { command.append(form.element) }
        return command
    }
}

extension XMPPStream {
    /// The commands that an entity offers (XEP-0050 §2.2): the node of each item names it.
    ///
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    public func commands(of jid: JID) async throws(XMPPError) -> [DiscoveryItem] {
        try await discoverItems(of: jid, node: AdHocCommand.namespace)
    }

    /// Begins a command (XEP-0050 §2.4).
    ///
    /// - Returns: Its first step: done, or questions to answer with ``continueCommand(_:of:action:form:)``.
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    public func runCommand(_ node: String, of jid: JID) async throws(XMPPError) -> AdHocCommand {
        try await step(AdHocCommand(node, action: .execute), of: jid)
    }

    /// Takes the next step of a command.
    ///
    /// - Parameters:
    ///   - step: The step before, as it was answered.
    ///   - jid: Who runs the command.
    ///   - action: What is to be done; to go on, unless said otherwise.
    ///   - form: The answers to the questions of the step before (``DataForm/filled(_:)``).
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    public func continueCommand(
        _ step: AdHocCommand, of jid: JID, action: AdHocCommand.Action = .execute, form: DataForm? = nil
    ) async throws(XMPPError) -> AdHocCommand {
        try await self.step(
            AdHocCommand(step.node, sessionID: step.sessionID, action: action, form: form), of: jid)
    }

    private func step(_ command: AdHocCommand, of jid: JID) async throws(XMPPError) -> AdHocCommand {
        try await request(IQ(.set, to: jid, payload: command.element), expecting: AdHocCommand.self)
    }
}
