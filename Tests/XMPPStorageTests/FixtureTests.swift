// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPProtocol
import XMPPTestSupport
import XMPPXML

@testable import XMPPStorage

@Suite("Files of earlier versions", .timeLimit(.minutes(5)))
struct FixtureTests {
    @Test("All that is in a file of any version is there in the present one", arguments: 1...Migrations.current.version)
    func complete(_ version: Int) async throws {
        let fixture = try StorageFixture()
        let folder = String(#filePath.dropLast("FixtureTests.swift".count))
        let script = StorageFixture.read("\(folder)Fixtures/version-\(version).sql")
        try fixture.folder.write("", to: "store.db")
        do {
            let connection = try SQLiteConnection(fixture.path, busyTimeout: 0)
            try connection.script(String(decoding: script, as: UTF8.self))
        }
        let database = try await fixture.open()
        #expect(database.setAside == nil)
        let state = try #require(try await DurableStreamStateStore(database).state(of: fixture.romeo))
        #expect(state.id == "session" && state.handled == .max && state.unacknowledged.count == 1)
        #expect(state.unsettled.map { $0.element["id"] } == ["m0"])
        let outbox = DurableOutbox(database)
        #expect(try await outbox.entry("m1", to: fixture.juliet, of: fixture.romeo)?.state == .sent)
        #expect(try await outbox.waiting(of: fixture.romeo, limit: 9).map(\.message.body) == ["waits"])
        #expect(try await outbox.entry("m3", to: fixture.juliet, of: fixture.romeo)?.reason == "gone")
        if version >= 3 {
            #expect(try await outbox.unreflected(of: fixture.romeo).map(\.message.id) == ["m4"])
            let room = KeptRoom(
                jid: try JID("coven@rooms.example.net"), nickname: "thirdwitch", password: "cauldronburn")
            #expect(try await KeptRooms(database).rooms(of: fixture.romeo) == [room])
        }
        let requests = try await KeptRequests(database).requests(of: fixture.romeo)
        #expect(requests.map(\.text) == (version >= 4 ? ["a man of wax"] : []))
        let archive = MessageArchive(database)
        let found = try await archive.messages(ArchiveQuery(text: "WHEREFORE"), of: fixture.romeo)
        #expect(found.map(\.archiveID?.id) == ["28482-98726"] && found.allSatisfy(\.isUnread))
        let total = try await database.read { connection throws(StorageError) in
            try connection.first("SELECT count, bytes FROM message_total WHERE account = 'romeo@example.net'") {
                [$0.integer(0), $0.integer(1)]
            }
        }
        #expect(total == [1, 91])
        #expect(try await RosterCache(database).roster(of: fixture.romeo)?.items.map(\.groups) == [["Capulets"]])
        let journal = EventJournal(database)
        #expect(try await journal.position(of: "bot") == journal.lastCursor)
        #expect(try await journal.events(after: 1_700_000_000_000_000).events.count == 1)
    }
}
