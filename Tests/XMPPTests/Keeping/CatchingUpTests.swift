// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPPCore
import XMPPProtocol
import XMPPTestSupport
import XMPPXML

@testable import XMPP

@Suite("What the archives tell a new session (XEP-0313)", .timeLimit(.minutes(3)))
struct CatchingUpTests {
    private static let coven = Somebody.address("coven@rooms.example.net")
    private let orchard = Somebody.address("romeo@example.net/orchard")

    /// A server whose archive alone has what comes while romeo is away, and a client of his.
    private func scene(
        from place: ArchivePlace? = nil, store: any StreamStateStore = InMemoryStreamStateStore(),
        _ change: (inout LoopbackOptions) -> Void = { _ in }, configure: (inout XMPPConfiguration) -> Void = { _ in }
    ) async throws -> (LoopbackServer, XMPPClient, Recorder) {
        let server = try await verona { options in
            options.offersArchive = true
            options.storesOfflineMessages = false
            change(&options)
        }
        var configuration = try await server.configuration(for: "romeo", resource: "orchard")
        configure(&configuration)
        let client = XMPPClient(
            configuration,
            reconnect: ReconnectPolicy(
                firstDelay: .zero, baseDelay: .zero, minimumDelay: .zero, resumptionDelay: .zero),
            store: store, caughtUpTo: place)
        let recorder = Recorder()
        client.add(messageDelegate: recorder)
        return (server, client, recorder)
    }

    private func say(_ text: String, _ server: LoopbackServer, to: String = "romeo@example.net") async throws {
        try await server.send(Message(to: try JID(to), body: text, id: text), as: "juliet")
    }

    private func heard(_ recorder: Recorder) -> [String] {
        recorder.lines.filter { $0.hasPrefix("message") }.map {
            String($0.split(separator: " ", maxSplits: 2).last ?? "")
        }
    }

    private func end(_ server: LoopbackServer, _ client: XMPPClient) async {
        await client.stop()
        await server.stop()
    }

    /// Waits until the client knows where the archive ends.
    private func placed(_ client: XMPPClient) async throws {
        try await Patience.wait(for: "the end of the archive") { client.archivePlace != nil }
    }

    @Test("What others have sent meanwhile is told first, in order and once, with its time and its name (XEP-0359)")
    func missed() async throws {
        let (server, client, recorder) = try await scene()
        try await client.start()
        try await say("1", server)
        await recorder.heard("message juliet@example.net/balcony 1")
        await client.stop()
        for text in ["2", "3"] { try await say(text, server) }
        let messages = client.messages
        try await client.start()
        try await say("4", server)
        var told: [Message] = []
        for try await message in messages {
            told.append(message)
            if message.body == "4" { break }
        }
        #expect(told.map(\.body) == ["2", "3", "4"])
        #expect(told.map { $0.delay != nil } == [true, true, false])
        #expect(told.map { $0.stanzaID(by: orchard.bare) } == ["archived-2", "archived-3", "archived-4"])
        await recorder.heard("message juliet@example.net/balcony 4")
        #expect(heard(recorder) == ["1", "2", "3", "4"])
        #expect(client.archivePlace?.last == "archived-4")
        await end(server, client)
    }

    @Test("The first message of all may be one that is missed", arguments: [0, 3])
    func first(_ known: Int) async throws {
        let (server, client, recorder) = try await scene()
        // What is there before the client comes is nobody's news.
        for number in 0..<known { try await say("old-\(number)", server) }
        try await client.start()
        try await placed(client)
        #expect(client.archivePlace?.last == (known == 0 ? nil : "archived-3"))
        await client.stop()
        try await say("new", server)
        try await client.start()
        #expect(heard(recorder) == ["new"])
        await end(server, client)
    }

    @Test("A message that the server hands over as well is told once")
    func twoWays() async throws {
        let (server, client, recorder) = try await scene { $0.storesOfflineMessages = true }
        try await client.start()
        try await say("1", server)
        await recorder.heard("message juliet@example.net/balcony 1")
        await client.stop()
        for text in ["2", "3"] { try await say(text, server) }
        try await client.start()
        try await say("4", server)
        await recorder.heard("message juliet@example.net/balcony 4")
        #expect(heard(recorder) == ["1", "2", "3", "4"])
        await end(server, client)
    }

    @Test("A client goes on from where an earlier run has left the archive, and after a message that it has forgotten")
    func earlierRun() async throws {
        let minute = DateTime(millisecondsSinceEpoch: DateTime.now.millisecondsSinceEpoch - 60_000)
        for place in [ArchivePlace(last: "archived-1", at: minute), ArchivePlace(last: "long gone", at: minute)] {
            let (server, client, recorder) = try await scene(from: place)
            for text in ["1", "2", "3"] { try await say(text, server) }
            try await client.start()
            #expect(heard(recorder) == (place.last == "archived-1" ? ["2", "3"] : ["1", "2", "3"]))
            #expect(client.archivePlace?.last == "archived-3")
            await end(server, client)
        }
    }

    @Test("More than a page is told to its end, and what the user has sent is no news")
    func pages() async throws {
        let (server, client, recorder) = try await scene()
        try await client.start()
        try await placed(client)
        for number in 0..<130 {
            try await client.send(Message(to: try JID("juliet@example.net"), body: "own-\(number)"))
        }
        try await client.waitUntilHandled()
        await client.stop()
        for number in 0..<130 { try await say("\(number)", server) }
        try await client.start()
        #expect(heard(recorder) == (0..<130).map(String.init))
        await end(server, client)
    }

    @Test(
        "What the account's other clients have sent and received is told as copies, to who asks for copies (XEP-0280)",
        arguments: [true, false])
    func otherClients(_ usesCarbons: Bool) async throws {
        let (server, client, recorder) = try await scene(configure: { $0.usesCarbons = usesCarbons })
        try await client.start()
        try await placed(client)
        try await client.send(Message(to: try JID("juliet@example.net"), body: "mine"))
        try await client.waitUntilHandled()
        await client.stop()
        let other = XMPPStream(try await server.configuration(for: "romeo", resource: "elsewhere"))
        try await other.connect()
        try await other.send(Presence())
        try await other.send(Message(to: try JID("juliet@example.net"), body: "sent"))
        try await other.waitUntilHandled()
        try await say("received", server, to: "romeo@example.net/elsewhere")
        try await say("for all", server)
        let events = client.events
        try await client.start()
        await other.disconnect()
        await end(server, client)
        var copies: [MessageCarbon] = []
        for try await event in events { if case .carbon(let copy) = event { copies.append(copy) } }
        #expect(copies.map(\.message.body) == (usesCarbons ? ["sent", "received"] : []))
        #expect(copies.map(\.direction) == (usesCarbons ? [.sent, .received] : []))
        #expect(heard(recorder) == ["for all"], "and what it has sent itself is no news")
    }

    @Test("An archive that goes in circles, or answers nothing of use, costs the session nothing")
    func circles() async throws {
        let (server, client, recorder) = try await scene(from: ArchivePlace(last: nil)) {
            $0.archiveGoesInCircles = true
        }
        for text in ["1", "2"] { try await say(text, server) }
        try await client.start()
        #expect(heard(recorder) == ["1", "2"])
        #expect(await client.stream?.isEstablished == true)
        await end(server, client)
    }

    @Test("Without an archive, or when it is not wanted, nothing is asked again and again", arguments: [true, false])
    func none(_ isWanted: Bool) async throws {
        let (server, client, _) = try await scene(
            { $0.offersArchive = !isWanted }, configure: { $0.catchesUp = isWanted })
        try await client.start()
        try await client.stream?.ping()
        await client.stop()
        try await client.start()
        try await client.stream?.ping()
        #expect(client.archivePlace == nil)
        let questions = await server.received(from: "romeo").count {
            $0.firstChild("query", namespace: ArchiveFilter.namespace) != nil
        }
        #expect(questions == (isWanted ? 2 : 0), "one a session, for where it ends")
        await end(server, client)
    }

    @Test("A store that is told of every step is told of what the archive had, and of nothing twice")
    func kept() async throws {
        let store = StepStore()
        let (server, client, recorder) = try await scene(from: ArchivePlace(last: nil), store: store) {
            $0.storesOfflineMessages = true
        }
        for text in ["1", "2"] { try await say(text, server) }
        try await client.start()
        try await say("3", server)
        await recorder.heard("message juliet@example.net/balcony 3")
        await client.stop()
        #expect(store.bodies == ["1", "2", "3"])
        #expect(heard(recorder) == ["1", "2", "3"])
        await server.stop()
    }

    @Test("What was said in a room meanwhile is told in order and once, where its archive alone has it (§6.2)")
    func rooms() async throws {
        let (server, client, _) = try await scene { $0.tellsRoomHistory = false }
        try await client.start()
        let room = try await client.join(Self.coven, history: .none)
        let other = XMPPStream(try await server.configuration(for: "romeo", resource: "elsewhere"))
        try await other.connect()
        let there = try await other.join(Self.coven, as: "hecate", history: .none)
        await client.stop()
        for number in 1..<30 { try await there.send("\(number)") }
        try await other.waitUntilHandled()
        let lines = room.messages
        try await client.start()
        var told: [RoomMessage] = []
        for try await line in lines {
            told.append(line)
            if told.count == 29 { break }
        }
        #expect(told.map(\.message.body) == (1..<30).map(String.init))
        #expect(told.allSatisfy { $0.isHistory && $0.nickname == "hecate" })
        try await Patience.wait(for: "romeo to be in the room again") { room.isJoined }
        try await there.send("last")
        for try await line in lines {
            #expect(line.message.body == "last" && !line.isHistory)
            break
        }
        await other.disconnect()
        await end(server, client)
    }
}

/// A store that takes down which messages it is to keep.
private final class StepStore: StreamStateStore {
    private let kept = Locked<[String]>([])

    var bodies: [String] { kept.withLock { $0 } }
    var keepsProgress: Bool { true }

    func state(of account: JID) async throws -> StreamState? { nil }
    func save(_ state: StreamState?, of account: JID) async throws {}

    func keep(_ steps: [StreamProgress], of account: JID) async throws {
        for case .received(let messages, _) in steps {
            kept.withLock { $0 += messages.compactMap { $0.firstChild("body", namespace: Namespace.client)?.text } }
        }
    }
}

@Suite("What is known of an archive")
struct ArchiveLedgerTests {
    private let account = Somebody.address("romeo@example.net")

    private func message(_ name: String, isDelayed: Bool = false) -> Element {
        var message = Message(to: account, body: name)
        message.append(StanzaID(name, by: account).element)
        if isDelayed { message.append(DelayedDelivery(stamp: .now).element) }
        return message.element
    }

    @Test("What was told and does not count is told again on the next connection, what counts is not")
    func connections() {
        let ledger = ArchiveLedger(of: account, from: nil)
        for name in ["a", "b"] { #expect(ledger.tells(message(name)) && !ledger.tells(message(name))) }
        ledger.handled(message("a"))
        ledger.connectionBegan()
        #expect(!ledger.tells(message("a")) && ledger.tells("b"))
    }

    @Test("An archive is read from some messages before the last, as they may come in another order than it has")
    func overlap() {
        let ledger = ArchiveLedger(of: account, from: nil)
        #expect(ledger.place == nil)
        ledger.begin(at: ArchivePlace(last: "end"))
        #expect(ledger.place?.last == "end" && ledger.last?.last == "end")
        for number in 0...ArchiveLedger.overlap { ledger.handled(message("\(number)")) }
        #expect(ledger.place?.last == "0" && ledger.last?.last == "\(ArchiveLedger.overlap)")
        ledger.begin(at: ArchivePlace(last: "too late"))
        #expect(ledger.place?.last == "0")
    }

    @Test("Where the archive ended nothing was told: the server may hand the last message over")
    func end() {
        let ledger = ArchiveLedger(of: account, from: nil)
        ledger.begin(at: ArchivePlace(last: "end"))
        #expect(ledger.tells(message("end")))
        #expect(!ArchiveLedger(of: account, from: ArchivePlace(last: "end")).tells(message("end")))
    }

    @Test("A request for a subscription that bears the name of a message hides no message (XEP-0359 §6)")
    func otherStanzas() {
        let ledger = ArchiveLedger(of: account, from: nil)
        var request = Presence(.subscribe)
        request.append(StanzaID("a", by: account).element)
        ledger.handled(request.element)
        #expect(ledger.last == nil && ledger.tells(message("a")))
    }

    @Test("What the server has kept may be older than the place where the archive ended")
    func offline() {
        let ledger = ArchiveLedger(of: account, from: nil)
        ledger.begin(at: ArchivePlace(last: "end"))
        ledger.handled(message("kept", isDelayed: true))
        #expect(ledger.place?.last == "kept")
    }

    @Test("At most so many names are remembered, the latest")
    func limits() {
        let ledger = ArchiveLedger(of: account, from: nil)
        let count = 2 * ArchiveLedger.maximumNames
        for number in 0..<count { ledger.handled(message("\(number)")) }
        #expect(ledger.tells("0") && !ledger.tells("\(count - ArchiveLedger.maximumNames)"))
        #expect(ledger.last?.last == "\(count - 1)")
        let untold = ArchiveLedger(of: account, from: nil)
        for number in 0...ArchiveLedger.maximumNames { _ = untold.tells("\(number)") }
        #expect(untold.tells("0") && !untold.tells("\(ArchiveLedger.maximumNames)"))
    }

    @Test("Only what names the account counts, and two names are none (XEP-0359 §6)")
    func names() {
        let ledger = ArchiveLedger(of: account, from: nil)
        var forged = Message(to: account, body: "x")
        forged.append(StanzaID("n", by: Somebody.address("juliet@example.net")).element)
        ledger.handled(forged.element)
        #expect(ledger.last == nil)
        let longest = String(repeating: "n", count: ArchivePlace.maximumNameBytes)
        ledger.handled(message(longest + "n"))
        #expect(ledger.last == nil)
        forged.append(StanzaID("n", by: account).element)
        forged.append(StanzaID("m", by: account).element)
        ledger.handled(forged.element)
        #expect(ledger.last == nil)
        ledger.handled(message(longest))
        #expect(ledger.last?.last == longest)
    }
}
