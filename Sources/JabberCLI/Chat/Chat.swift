// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import JabberControl
internal import SocketIO

/// A chat that goes on: events of the daemon come in above, lines of a person go out below.
final class Chat: Sendable {
    /// After how long without a key the other side is told that nobody writes; 30 seconds (XEP-0085 §5.1: paused).
    private static let typingPause: Duration = .seconds(30)
    /// How much of what was said before is shown; 10 messages.
    private static let earlierCount: Int64 = 10

    private let peer: String
    private let isRoom: Bool
    private let context: CommandContext
    private let session: DaemonSession
    private let editor: any LineEditing
    private let conversation: Locked<Conversation>
    private let typing = Locked(TypingNotice())
    private let tellsTyping: Bool
    /// What was entered, in order; ends with the chat.
    private let inputs: AsyncStream<ChatInput>
    private let entering: AsyncStream<ChatInput>.Continuation
    private let timers = StreamExecutor(label: "jabberctl.chat")
    private let pause = Locked<(any ScheduledTimer)?>(nil)
    /// Whether the daemon knows what was read; one for this command alone does not.
    private let keepsRead = Locked(true)

    init(
        with peer: String, isRoom: Bool, _ context: CommandContext, _ session: DaemonSession,
        _ editor: any LineEditing
    ) {
        (self.peer, self.isRoom, self.context, self.session, self.editor) = (peer, isRoom, context, session, editor)
        let colours = ChatColours(isColoured: context.options.isColoured, context.environment.variables)
        conversation = Locked(
            Conversation(with: peer, isRoom: isRoom, colours: colours, localTime: context.environment.localTime))
        tellsTyping = !isRoom && !context.line.has("no-typing")
        (inputs, entering) = AsyncStream.makeStream()
    }

    /// The parameters of `listen` for it.
    static func listening(to peer: String, isRoom: Bool, _ nickname: String?) -> JSONObject {
        var params: JSONObject =
            isRoom
            ? ["kind": ["account", "message", "reaction", "retraction", "room"], "room": .string(peer)]
            : ["kind": ["account", "marker", "message", "presence", "reaction", "receipt", "retraction", "state"]]
        params["nick"] = nickname.map(JSONValue.string)
        return params
    }

    /// Talks until the person leaves.
    ///
    /// - Throws: `ControlError` when the daemon goes, a signal comes, or the terminal fails.
    func run() async throws(ControlError) {
        await showEarlier()
        let listening = Task { [self] () -> ControlError? in
            let params = Self.listening(to: peer, isRoom: isRoom, context.line.value("nick"))
            do throws(ControlError) {
                _ = try await session.call("listen", params) { event in self.heard(event) }
                return nil
            } catch {
                return error
            }
        }
        let watching = Task { [self] in
            let failure = await listening.value
            editor.end()
            return failure
        }
        let doing = Task { [self] in
            for await input in inputs { await perform(input) }
        }
        let trouble = await edit()
        entering.finish()
        await doing.value
        if typing.withLock({ $0.paused() }) { await tell(isTyping: false) }
        listening.cancel()
        let failure = await watching.value
        pause.withLock { $0 }?.cancel()
        if let failure = trouble ?? failure, failure.code != .cancelled { throw failure }
    }

    /// Edits lines, which keeps a thread.
    private func edit() async -> ControlError? {
        let work = LineWork(
            prompt: { [self] in conversation.withLock { $0.prompt } },
            complete: { [self] text in conversation.withLock { $0.completion(of: text) } },
            changed: { [self] text in changed(text) }, entered: { [self] text in entered(text) })
        return await withCheckedContinuation { continuation in
            DispatchQueue(label: "jabberctl.lines").async { [editor] in
                do throws(ControlError) {
                    try editor.run(work)
                    continuation.resume(returning: nil)
                } catch {
                    continuation.resume(returning: error)
                }
            }
        }
    }

    // MARK: What comes in

    private func heard(_ event: JSONValue) -> Bool {
        guard let event = event.objectValue else { return true }
        let lines = conversation.withLock { $0.take(event) }
        editor.show(lines)
        if event.string("type") == "room", event.string("event") == "joined" { Task { await askWhoIsThere() } }
        if event.string("type") == "message", event.string("direction") != "out", !lines.isEmpty {
            Task { await markRead() }
        }
        return true
    }

    /// What was said lately, as far as the daemon has it.
    private func showEarlier() async {
        let params: JSONObject = ["jid": .string(ShallowAddress.bare(peer)), "limit": .integer(Self.earlierCount)]
        guard let result = try? await session.call("history", params).objectValue else { return }
        let lines = (result["messages"]?.arrayValue ?? []).compactMap(\.objectValue).map { message in
            var event = message
            event["type"] = "message"
            return conversation.withLock { $0.line(event, isOwn: message.string("direction") == "out") }
        }
        editor.show(lines)
        if !lines.isEmpty { await markRead() }
    }

    private func askWhoIsThere() async {
        guard let result = try? await session.call("room.who", ["room": .string(peer)]).objectValue else { return }
        let names = (result["occupants"]?.arrayValue ?? []).compactMap { $0["nick"]?.stringValue }
        conversation.withLock { $0.take(occupants: names) }
        editor.show([])
    }

    private func markRead() async {
        guard keepsRead.withLock({ $0 }) else { return }
        do throws(ControlError) {
            _ = try await session.call("read", ["jid": .string(ShallowAddress.bare(peer))])
        } catch {
            if error.code == .daemonNotRunning { keepsRead.withLock { $0 = false } }
        }
    }

    // MARK: What goes out

    private func entered(_ line: String) -> Bool {
        let input = ChatInput(line, isRoom: isRoom)
        if case .quit = input { return false }
        if case .text = input { typing.withLock { $0.sent() } }
        entering.yield(input)
        return true
    }

    private func perform(_ input: ChatInput) async {
        do throws(ControlError) {
            switch input {
            case .text(let text): try await say(text)
            case .correct(let text): try await correct(text)
            case .retract: try await retract()
            case .react(let emoji): try await react(emoji)
            case .who: try await showWho()
            case .nick(let name): _ = try await session.call("room.nick", room(["nickname": .string(name)]))
            case .topic(let text): try await topic(text)
            case .help: editor.show(ChatInput.help(isRoom: isRoom))
            case .wrong(let why): throw ControlError(.usage, why)
            case .quit, .nothing: break
            }
        } catch {
            editor.show([note("\(error.message)", .bad)])
        }
    }

    private func say(_ text: String, replacing id: String? = nil) async throws(ControlError) {
        guard text.utf8.count <= InputText.maximumBytes else {
            throw ControlError(.badData, "the text is longer than \(InputText.maximumBytes) bytes")
        }
        var generator = SystemRandomNumberGenerator()
        let own = String(generator.next(), radix: 36) + String(generator.next(), radix: 36)
        editor.show(
            conversation.withLock { $0.said(text, id: own, at: Moment.now(), replacing: id != nil) })
        var params: JSONObject = [
            "to": [.string(peer)], "text": .string(text), "id": .string(own), "until": "server",
        ]
        params[isRoom ? "room" : "receipt"] = true
        if let id { params["correct"] = .string(id) }
        // Only a daemon that stays knows a message again, and writes it down first: the next one need not wait for the
        // server.
        guard !session.isPrivate else { return try await send(params, own) }
        params["until"] = "none"
        try await send(params, own)
        params["until"] = "server"
        let order = params
        Task { [self] in
            do throws(ControlError) {
                try await send(order, own)
            } catch {
                // Late is no failure: it is kept, and goes out when it can.
                guard error.code != .timedOut, error.code != .cancelled else { return }
                editor.show([note("\"\(text)\": \(error.message)", .bad)])
            }
        }
    }

    private func send(_ params: JSONObject, _ id: String) async throws(ControlError) {
        let result = try CommandContext.object(try await session.call("send", params))
        let row = result["results"]?.arrayValue?.first?.objectValue ?? [:]
        conversation.withLock { $0.state(row.string("state"), of: id) }
        editor.show([])
        if let error = row["error"]?.objectValue { throw ControlError(json: error) }
    }

    private func correct(_ text: String) async throws(ControlError) {
        guard let last = conversation.withLock({ $0.lastOwn }) else { throw Self.nothingSaid }
        try await say(text, replacing: last.id)
    }

    private func retract() async throws(ControlError) {
        guard let last = conversation.withLock({ $0.lastOwn }) else { throw Self.nothingSaid }
        _ = try await session.call("retract", ["jid": .string(peer), "id": .string(last.id)])
        conversation.withLock { $0.retracted() }
        editor.show([note("you have asked for \"\(last.text)\" to be removed")])
    }

    private func react(_ emoji: [String]) async throws(ControlError) {
        guard let last = conversation.withLock({ $0.lastOther }) else {
            throw ControlError(.notFound, "there is nothing to react to yet")
        }
        _ = try await session.call("react", ["jid": .string(peer), "id": .string(last), "emoji": .strings(emoji)])
    }

    private static let nothingSaid = ControlError(.notFound, "you have said nothing here yet")

    private func showWho() async throws(ControlError) {
        guard isRoom else {
            let result = try CommandContext.object(
                try await session.call("presence.show", ["jid": .string(ShallowAddress.bare(peer))]))
            let status = result.string("status").map { " (\($0))" } ?? ""
            return editor.show([note("\(peer) is \(result.string("show") ?? "offline")\(status)")])
        }
        await askWhoIsThere()
        let names = conversation.withLock { $0.occupants.sorted() }
        editor.show([note("\(names.count) in the room: \(names.joined(separator: ", "))")])
    }

    private func topic(_ text: String?) async throws(ControlError) {
        let result = try CommandContext.object(
            try await session.call("room.topic", room(text.map { ["text": .string($0)] } ?? [:])))
        if text == nil { editor.show([note("the room is about: \(result.string("subject") ?? "")")]) }
    }

    private func room(_ params: JSONObject) -> JSONObject {
        var params = params
        params["room"] = .string(peer)
        return params
    }

    private func note(_ text: String, _ colour: Colour = .faint) -> String {
        let text = TerminalText.block(text)
        return context.options.isColoured ? colour.paint(text) : text
    }

    // MARK: Who writes

    private func changed(_ text: String) {
        guard tellsTyping else { return }
        if let isTyping = typing.withLock({ $0.changed(text) }) { Task { await tell(isTyping: isTyping) } }
        let timer = context.environment.clock.schedule(after: Self.typingPause, on: timers) { [weak self] in
            guard let self, typing.withLock({ $0.paused() }) else { return }
            Task { await self.tell(isTyping: false) }
        }
        pause.withLock { pause in
            pause?.cancel()
            pause = timer
        }
    }

    /// Contacts that may not see the presence are not told: that is no error here.
    private func tell(isTyping: Bool) async {
        _ = try? await session.call("typing", ["jid": .string(peer), "state": isTyping ? "on" : "off"])
    }
}
