// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPXML

@testable import XMPP

@Suite("What is known of a room (XEP-0045)")
struct RoomStateTests {
    private static let room = Somebody.address("coven@chat.example")

    private static func presence(
        _ nick: String, _ codes: [Int] = [], type: String = "",
        item: String = "affiliation='member' role='participant'",
        more: String = "", id: String? = nil
    ) throws -> Presence {
        let status = codes.map { "<status code='\($0)'/>" }.joined()
        let occupant = id.map { "<occupant-id xmlns='urn:xmpp:occupant-id:0' id='\($0)'/>" } ?? ""
        return try Presence(
            Element.parse(
                "<presence from='coven@chat.example/\(nick)' \(type)>\(occupant)<x xmlns='http://jabber.org/protocol/muc#user'>"
                    + "<item \(item)>\(more)</item>\(status)</x></presence>"))
    }

    private static func message(_ from: String, _ content: String, id: String = "m1") throws -> Message {
        try Message(
            Element.parse("<message type='groupchat' id='\(id)' from='coven@chat.example\(from)'>\(content)</message>"))
    }

    /// A room that the user has entered as `juliet`.
    private static func joined() throws -> RoomState {
        var state = RoomState(room, nickname: "juliet")
        state.join(as: "juliet")
        _ = state.received(try presence("witch", id: "w"))
        _ = state.received(try presence("juliet", [110], id: "j"))
        return state
    }

    @Test("the user is in when the room says so, and everybody else is known by then (§7.2.2)")
    func joining() throws {
        var state = RoomState(Self.room, nickname: "juliet")
        #expect(state.received(try Self.presence("juliet", [110])) == [], "never asked")
        state.join(as: "juliet")
        #expect(state.received(try Self.presence("witch")) == [] && state.phase == .joining && state.me == nil)
        let steps = state.received(try Self.presence("juliet", [110, 201]))
        #expect(steps.count == 2 && steps.first == .unlock && state.phase == .joined)
        #expect(state.occupants.all.map(\.nickname).sorted() == ["juliet", "witch"] && state.me?.role == .participant)
        // The room may give another nickname (code 210).
        var other = RoomState(Self.room, nickname: "juliet")
        other.join(as: "juliet")
        _ = other.received(try Self.presence("Juliet Capulet", [110, 210]))
        #expect(other.nickname == "Juliet Capulet" && other.phase == .joined)
    }

    @Test("a nickname that is taken is tried with underscores, a few times (§7.2.8)")
    func conflict() throws {
        let error = try Presence(
            Element.parse(
                "<presence type='error' from='coven@chat.example/juliet'><error type='cancel'>"
                    + "<conflict xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></presence>"))
        var state = RoomState(Self.room, nickname: "juliet")
        state.join(as: "juliet")
        #expect(state.received(error) == [.tryNickname("juliet_")])
        #expect(state.received(error) == [.tryNickname("juliet__")])
        #expect(state.received(error) == [.event(.refused(StanzaError(.conflict, kind: .cancel)))])
        #expect(state.phase == .outside && state.received(error) == [])
        // Once inside it is the answer to something else.
        var inside = try Self.joined()
        #expect(inside.received(error) == [] && inside.phase == .joined)
    }

    @Test("others come, change, take another nickname and go, and each is told with its reason (§7, §8, §9)")
    func others() throws {
        var state = try Self.joined()
        #expect(state.received(try Self.presence("hag")).count == 1)
        #expect(state.received(try Self.presence("hag")) == [], "the same again")
        let changed = state.received(try Self.presence("hag", item: "affiliation='owner' role='moderator'"))
        guard case .event(.occupantChanged(let hag))? = changed.first else { return #expect(Bool(false)) }
        #expect(hag.role == .moderator && hag.affiliation == .owner)
        let renamed = state.received(try Self.presence("hag", [303], type: "type='unavailable'", item: "nick='crone'"))
        guard case .event(.nicknameChanged("hag", let crone))? = renamed.first else { return #expect(Bool(false)) }
        #expect(crone.nickname == "crone" && state.occupants["hag"] == nil && state.occupants["crone"] != nil)
        for (codes, cause) in [
            ([307], RoomDeparture.Cause.kicked), ([301], .banned), ([307, 333], .error), ([321], .membersOnly),
            ([322], .membersOnly), ([332], .shutdown), ([], .left),
        ] {
            _ = state.received(try Self.presence("guest"))
            let left = state.received(
                try Self.presence(
                    "guest", codes, type: "type='unavailable'", item: "role='none'",
                    more: "<actor nick='hag'/><reason>Avaunt</reason>"))
            guard case .event(.occupantLeft(_, let departure))? = left.first else {
                return #expect(Bool(false), "\(cause)")
            }
            #expect(departure.cause == cause && departure.reason == "Avaunt" && departure.actor == "hag")
        }
    }

    @Test("the user is out when the own nickname is, whatever else is marked as the user's")
    func leaving() throws {
        var state = try Self.joined()
        // Code 110 on somebody else's departure does not show the user out.
        let spoof = state.received(try Self.presence("witch", [110, 307], type: "type='unavailable'"))
        #expect(spoof.count == 1 && state.phase == .joined)
        let kicked = state.received(try Self.presence("juliet", [110, 307], type: "type='unavailable'"))
        guard case .event(.left(let departure))? = kicked.first else { return #expect(Bool(false)) }
        #expect(departure.cause == .kicked && departure.isFinal && state.phase == .outside)
        #expect(state.occupants.all.isEmpty)
        var destroyed = try Self.joined()
        let end = try Presence(
            Element.parse(
                "<presence type='unavailable' from='coven@chat.example/juliet'><x xmlns='http://jabber.org/protocol/muc#user'>"
                    + "<item role='none'/><destroy jid='new@chat.example'><reason>Macbeth</reason></destroy></x></presence>"
            ))
        guard case .event(.left(let why))? = destroyed.received(end).first else { return #expect(Bool(false)) }
        #expect(
            why.cause == .destroyed && why.alternative?.description == "new@chat.example" && why.reason == "Macbeth")
    }

    @Test("the user's own nickname follows when it is changed (§7.6)")
    func ownNickname() throws {
        var state = try Self.joined()
        _ = state.received(try Self.presence("juliet", [110, 303], type: "type='unavailable'", item: "nick='jules'"))
        #expect(state.nickname == "jules" && state.phase == .joined && state.me != nil)
    }

    @Test(
        "what is said is new or was said before, one's own or another's, and is a subject where it has no body (§7.2.13, §8.1)"
    )
    func messages() throws {
        var state = try Self.joined()
        let delay = "<delay xmlns='urn:xmpp:delay' from='coven@chat.example' stamp='2016-02-25T10:00:00Z'/>"
        let id = { (id: String) in "<occupant-id xmlns='urn:xmpp:occupant-id:0' id='\(id)'/>" }
        func line(_ event: RoomEvent?) -> RoomMessage? {
            if case .message(let message)? = event { message } else { nil }
        }
        let old = line(state.received(try Self.message("/witch", "<body>!reboot</body>\(delay)"), now: .seconds(1)))
        #expect(old?.isHistory == true && old?.isOwn == false && old?.nickname == "witch")
        let live = line(state.received(try Self.message("/witch", "<body>live</body>", id: "m2"), now: .seconds(2)))
        #expect(live?.isHistory == false && state.lastMessage == .seconds(2))
        let own = line(state.received(try Self.message("/juliet", "<body>a</body>\(id("j"))", id: "m3"), now: .zero))
        #expect(own?.isOwn == true)
        let before = line(state.received(try Self.message("/juliet", "<body>b</body>\(id("x"))", id: "m4"), now: .zero))
        #expect(before?.isOwn == false, "somebody else had the nickname")
        #expect(
            state.received(try Self.message("/witch", "<subject>Hags</subject>"), now: .zero)
                == .subject("Hags", by: "witch"))
        #expect(state.subject == "Hags")
        #expect(state.received(try Self.message("", "<subject/>"), now: .zero) == .subject(nil, by: nil))
        let codes = "<x xmlns='http://jabber.org/protocol/muc#user'><status code='104'/></x>"
        #expect(state.received(try Self.message("", codes), now: .zero) == .configurationChanged(codes: [104]))
    }

    @Test("what was shown before is not shown again after coming back (§7.2.15)")
    func doubles() throws {
        var state = try Self.joined()
        let delay = "<delay xmlns='urn:xmpp:delay' from='coven@chat.example' stamp='2016-02-25T10:00:00Z'/>"
        let sid = "<stanza-id xmlns='urn:xmpp:sid:0' by='coven@chat.example' id='s1'/>"
        #expect(state.received(try Self.message("/witch", "<body>a</body>\(sid)"), now: .zero) != nil)
        #expect(state.received(try Self.message("/witch", "<body>b</body>", id: "m2"), now: .zero) != nil)
        #expect(state.disconnected() == .left(RoomDeparture(.disconnected)) && state.disconnected() == nil)
        state.join(as: "juliet")
        _ = state.received(try Self.presence("juliet", [110]))
        #expect(state.received(try Self.message("/witch", "<body>a</body>\(sid)\(delay)", id: "x"), now: .zero) == nil)
        #expect(state.received(try Self.message("/witch", "<body>b</body>\(delay)", id: "m2"), now: .zero) == nil)
        #expect(state.received(try Self.message("/witch", "<body>c</body>\(delay)", id: "m3"), now: .zero) != nil)
        // What is said again now was said again.
        #expect(state.received(try Self.message("/witch", "<body>b</body>", id: "m2"), now: .zero) != nil)
    }

    @Test("so many are known of those in a room, and so many messages remembered")
    func limits() throws {
        var state = try Self.joined()
        for number in 2...OccupantTable.maximumOccupants { _ = state.received(try Self.presence("n\(number)")) }
        #expect(state.occupants.count == OccupantTable.maximumOccupants)
        #expect(state.received(try Self.presence("one too many")) == [])
        let delay = "<delay xmlns='urn:xmpp:delay' stamp='2016-02-25T10:00:00Z'/>"
        for number in 0...RoomState.maximumRemembered {
            _ = state.received(try Self.message("/witch", "<body>a</body>", id: "r\(number)"), now: .zero)
        }
        #expect(state.received(try Self.message("/witch", "<body>a</body>\(delay)", id: "r1"), now: .zero) == nil)
        #expect(state.received(try Self.message("/witch", "<body>a</body>\(delay)", id: "r0"), now: .zero) != nil)
    }

    @Test("a room that is larger than what is kept of it can be entered all the same (§7.2.2)")
    func crowd() throws {
        var state = RoomState(Self.room, nickname: "juliet")
        state.join(as: "juliet")
        for number in 0...OccupantTable.maximumOccupants { _ = state.received(try Self.presence("n\(number)")) }
        #expect(state.occupants.count == OccupantTable.maximumOccupants && state.phase == .joining)
        let steps = state.received(try Self.presence("juliet", [110]))
        #expect(steps.count == 1 && state.phase == .joined && state.me?.nickname == "juliet")
    }

    @Test("what others write at length is not kept: of a presence what people see, of messages what tells them apart")
    func longTexts() throws {
        var state = try Self.joined()
        let text = String(repeating: "z", count: 200_000)
        var long = try Self.presence("witch", id: "w")
        long.status = text
        _ = state.received(long)
        let witch = try #require(state.occupants["witch"])
        #expect(witch.role == .participant && witch.occupantID == "w")
        #expect(witch.presence.element.storedBytes <= Presence.maximumKeptBytes)
        let old = "<delay xmlns='urn:xmpp:delay' stamp='2026-01-01T00:00:00Z'/>"
        for (body, isNew) in [(text, true), (text + "!", true), (text, false), (text + "!", false)] {
            let message = try Self.message("/witch", "<body>\(body)</body>\(old)")
            #expect((state.received(message, now: .zero) != nil) == isNew)
        }
        #expect(!state.hasSentBack("m1"))
        _ = state.received(try Self.message("/juliet", "<body>x</body>", id: text), now: .zero)
        #expect(state.hasSentBack(text) && !state.hasSentBack(text + "!"))
    }

    @Test("a room can neither fill the memory with ids of half a megabyte nor with new nicknames of that length (§7.6)")
    func longNames() throws {
        var state = try Self.joined()
        let text = String(repeating: "z", count: 500_000)
        _ = state.received(try Self.presence("hag", id: text))
        #expect(state.occupants["hag"]?.occupantID == nil && state.occupants.count == 3)
        let steps = state.received(
            try Self.presence("hag", [303], type: "type='unavailable'", item: "nick='\(text)' role='participant'"))
        guard case .event(.occupantLeft(let hag, _))? = steps.first else { return #expect(Bool(false)) }
        #expect(hag.nickname == "hag" && state.occupants.count == 2)
    }

    @Test("all that is kept of those in a room has a limit, and there is room for the user (RFC 6120 §13.12)")
    func bytesOfOccupants() throws {
        var state = RoomState(Self.room, nickname: "juliet")
        state.join(as: "juliet")
        let status = "<status>\(String(repeating: "z", count: 3_000))</status>"
        func long(_ nick: String, _ codes: [Int] = []) throws -> Presence {
            var presence = try Self.presence(nick, codes)
            presence.append(try Element.parse(status))
            return presence
        }
        let size = Occupant("n00000", try long("n00000")).storedBytes
        #expect(size > 3_000 && size < 4_200)
        let fitting = OccupantTable.maximumBytes / size
        for number in 10_000..<(10_000 + fitting + 5) { _ = state.received(try long("n\(number)")) }
        #expect(state.occupants.count == fitting)
        _ = state.received(try Self.presence("n10000"))
        #expect(state.received(try long("juliet", [110])).count == 1)
        #expect(state.me?.nickname == "juliet" && state.occupants.count == fitting + 1)
        // Whoever does not fit any more is not listed with what is not so any more.
        let steps = state.received(try long("n10000"))
        guard case .event(.occupantLeft(let known, _))? = steps.first else { return #expect(Bool(false)) }
        #expect(known.nickname == "n10000" && state.occupants["n10000"] == nil)
    }

    @Test("what one says hides nothing that another has said, whatever stands in a nickname")
    func strangeNicknames() throws {
        var state = try Self.joined()
        let delay = "<delay xmlns='urn:xmpp:delay' from='coven@chat.example' stamp='2016-02-25T10:00:00Z'/>"
        #expect(state.received(try Self.message("/witch a", "<body>c</body>", id: "b"), now: .zero) != nil)
        #expect(state.received(try Self.message("/witch", "<body>b c</body>\(delay)", id: "a"), now: .zero) != nil)
        let sid = { (id: String) in "<stanza-id xmlns='urn:xmpp:sid:0' by='coven@chat.example' id='\(id)'/>" }
        let forged = sid("coven@chat.example/witch m9 d")
        #expect(state.received(try Self.message("/hag", "<body>x</body>\(forged)", id: "y"), now: .zero) != nil)
        #expect(state.received(try Self.message("/witch", "<body>d</body>\(delay)", id: "m9"), now: .zero) != nil)
    }

    @Test("who has taken the user's nickname over meanwhile is somebody else, where the room tells (XEP-0421)")
    func takenNickname() throws {
        let room = Room(Self.room, nickname: "juliet", hub: EventHub())
        func enter(_ id: String?) throws {
            let own = try Self.presence("juliet", [110], id: id)
            room.update { state in
                state.join(as: "juliet")
                _ = state.received(own)
                _ = state.disconnected()
            }
        }
        func said(_ nickname: String, _ id: String?) throws -> Message {
            let id = id.map { "<occupant-id xmlns='urn:xmpp:occupant-id:0' id='\($0)'/>" } ?? ""
            return try Self.message("/\(nickname)", id)
        }
        let (own, other, untold) = (try said("juliet", "j"), try said("juliet", "x"), try said("juliet", nil))
        let (renamed, witch) = (try said("jules", "j"), try said("witch", nil))
        try enter(nil)
        #expect(room.isOwn(own) && room.isOwn(other), "nothing tells them apart")
        try enter("j")
        #expect(room.isOwn(own) && !room.isOwn(other))
        #expect(room.isOwn(untold) && !room.isOwn(witch) && room.isOwn(renamed))
    }
}
