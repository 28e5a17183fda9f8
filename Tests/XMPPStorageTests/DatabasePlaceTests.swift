// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import XMPPCore
import XMPPTestSupport

@testable import XMPPStorage

@Suite("The place of a database", .timeLimit(.minutes(5)))
struct DatabasePlaceTests {
    private let fixture: StorageFixture

    init() throws {
        fixture = try StorageFixture()
    }

    private func refusal() async -> StorageError? {
        do throws(StorageError) {
            _ = try await Database(at: fixture.path)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "A file that others may read is refused, with the command that mends it",
        arguments: [0o644, 0o640, 0o666])
    func readable(_ mode: mode_t) async throws {
        await (try fixture.open()).close()
        chmod(fixture.path, mode)
        let error = try #require(await refusal())
        #expect(error.code == .permissions)
        #expect(error.message.contains("chmod 600 '\(fixture.path)'"))
    }

    @Test("A log beside the file that others may read is refused")
    func readableLog() async throws {
        let database = try await fixture.open()
        _ = try await DurableOutbox(database).add(fixture.message("x"), of: fixture.romeo, expires: nil)
        chmod(fixture.path + "-wal", 0o644)
        #expect(await refusal()?.message.contains("-wal") == true)
        withExtendedLifetime(database) {}
    }

    @Test("A folder that others may look into is refused")
    func openFolder() async throws {
        chmod(fixture.folder.path, 0o755)
        let error = try #require(await refusal())
        #expect(error.message.contains("chmod 700 '\(fixture.folder.path)'"))
        #expect(fixture.names.isEmpty)
    }

    @Test("A link in the place of the file is refused, and so is what is no file")
    func link() async throws {
        symlink(fixture.folder.file("elsewhere"), fixture.path)
        #expect(await refusal()?.code == .permissions)
        unlink(fixture.path)
        mkdir(fixture.path, 0o700)
        #expect(await refusal()?.code == .permissions)
    }

    @Test("A file of another user is refused", .enabled(if: geteuid() == 0))
    func foreignOwner() async throws {
        await (try fixture.open()).close()
        chown(fixture.path, 65_534, 65_534)
        #expect(await refusal()?.message.contains("belongs to another user") == true)
    }

    @Test("A path that is not absolute is refused")
    func relative() async {
        await #expect(throws: StorageError.self) { try await Database(at: "store.db") }
    }

    @Test(
        "The database of another program is refused and left as it is",
        arguments: ["CREATE TABLE x (y)", "PRAGMA application_id = 9"])
    func foreign(_ script: String) async throws {
        try fixture.folder.write("", to: "store.db")
        do {
            let connection = try SQLiteConnection(fixture.path, busyTimeout: 0)
            try connection.script(script)
        }
        let error = try #require(await refusal())
        #expect(error.code == .foreign)
        #expect(fixture.names == ["store.db"])
    }

    @Test("A file of a later version is refused and left as it is")
    func newer() async throws {
        await (try fixture.open()).close()
        do {
            let connection = try SQLiteConnection(fixture.path, busyTimeout: 0)
            try connection.script("PRAGMA user_version = 99")
        }
        let error = try #require(await refusal())
        #expect(error.code == .newer)
        #expect(error.message.contains("version 99"))
        #expect(fixture.names.filter { $0.contains("damaged") } == [])
    }
}

@Suite("A damaged database", .timeLimit(.minutes(3)))
struct DamagedDatabaseTests {
    private let fixture: StorageFixture

    init() throws {
        fixture = try StorageFixture()
    }

    /// A closed file with something in every table.
    private func filled() async throws -> [UInt8] {
        let database = try await fixture.open()
        let archive = MessageArchive(database)
        for number in 0..<40 {
            let message = try fixture.message("message \(number) " + String(repeating: "word ", count: 60))
            try await archive.add(
                [ArchivedMessage(message: message, peer: fixture.juliet, isOutgoing: false, at: .now)],
                of: fixture.romeo)
        }
        await database.close()
        return StorageFixture.read(fixture.path)
    }

    /// Opens a file and uses it; everything but a crash is an answer.
    private func use(_ bytes: [UInt8]) async throws -> (error: StorageError?, aside: String?) {
        for name in fixture.names { unlink(fixture.folder.file(name)) }
        try fixture.folder.write(bytes, to: "store.db")
        do throws(StorageError) {
            let database = try await Database(at: fixture.path)
            do throws(StorageError) {
                _ = try await MessageArchive(database).messages(ArchiveQuery(text: "word"), of: fixture.romeo)
                _ = try await MessageArchive(database).unread(of: fixture.romeo)
                await database.close()
                return (nil, database.setAside)
            } catch {
                await database.close()
                return (error, database.setAside)
            }
        } catch {
            return (error, nil)
        }
    }

    @Test("What is no database is set aside as it is, and a new one begun")
    func noDatabase() async throws {
        let rubbish = Array("this is no database at all".utf8)
        let (error, aside) = try await use(rubbish)
        #expect(error == nil)
        #expect(StorageFixture.read(try #require(aside)) == rubbish)
        #expect(StorageFixture.mode(of: try #require(aside)) == 0o600)
    }

    @Test("A damaged file never takes the place of one that was set aside before")
    func twice() throws {
        let now = DateTime(millisecondsSinceEpoch: 1_000)
        for text in ["one", "two"] {
            try fixture.folder.write(text, to: "store.db")
            try fixture.folder.write("log of \(text)", to: "store.db-wal")
            _ = try PrivatePlace(path: fixture.path).setAside(at: now)
        }
        #expect(
            fixture.names == [
                "store.db.damaged-19700101T000001000Z", "store.db.damaged-19700101T000001000Z-1",
                "store.db.damaged-19700101T000001000Z-1-wal", "store.db.damaged-19700101T000001000Z-wal",
            ])
        #expect(StorageFixture.read(fixture.folder.file(fixture.names[0])) == Array("one".utf8))
    }

    @Test("A file cut at a page is used, refused by name or set aside whole; nothing is overwritten")
    func truncated() async throws {
        let whole = try await filled()
        for pages in 1..<(whole.count / 4_096) {
            let bytes = Array(whole.prefix(pages * 4_096))
            let (error, aside) = try await use(bytes)
            if let aside { #expect(StorageFixture.read(aside) == bytes) }
            if let error { #expect(error.file == fixture.path && error.message.contains(fixture.path)) }
            #expect(aside != nil || error != nil, "\(pages) pages")
        }
    }

    @Test("One flipped byte does not crash, and a damaged file is kept")
    func flipped() async throws {
        let whole = try await filled()
        var generator = SeededGenerator(seed: 21)
        var kept = 0
        for _ in 0..<200 {
            var bytes = whole
            bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^= UInt8.random(in: 1...255, using: &generator)
            let (error, aside) = try await use(bytes)
            if let aside {
                #expect(StorageFixture.read(aside) == bytes)
                kept += 1
            }
            if let error { #expect(error.message.contains(fixture.path)) }
        }
        #expect(kept > 0)
    }
}
