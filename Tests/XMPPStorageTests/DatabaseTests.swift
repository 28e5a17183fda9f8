// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import SocketIO
import Testing
import XMPPTestSupport

@testable import XMPPStorage

@Suite("A database", .timeLimit(.minutes(5)))
struct DatabaseTests {
    private let fixture: StorageFixture

    init() throws {
        fixture = try StorageFixture()
    }

    @Test("What was written is there when the file is opened again")
    func lasting() async throws {
        let first = try await fixture.notes()
        try await first.note("kept")
        await first.close()
        let second = try await fixture.notes()
        #expect(try await second.noted == ["kept"])
        #expect(second.setAside == nil)
    }

    @Test("What was committed is there though the file was never closed")
    func unclosed() async throws {
        let first = try await fixture.notes()
        try await first.note("kept")
        let second = try await fixture.notes()
        #expect(try await second.noted == ["kept"])
        withExtendedLifetime(first) {}
    }

    @Test("Every commit is on the disk, and what is removed is overwritten")
    func settings() async throws {
        let database = try await fixture.notes()
        let settings = try await database.write { connection throws(StorageError) in
            var settings: [String] = []
            for name in ["journal_mode", "synchronous", "secure_delete", "foreign_keys", "trusted_schema"] {
                let value = try connection.first("PRAGMA \(name)") { $0.text(0) ?? "" }
                settings.append("\(name) \(value ?? "")")
            }
            return settings
        }
        #expect(
            settings == ["journal_mode wal", "synchronous 2", "secure_delete 1", "foreign_keys 1", "trusted_schema 0"])
    }

    @Test("Writers that come together share a transaction, and each has what it wrote")
    func groupCommit() async throws {
        let database = try await fixture.notes()
        let before = await database.commitCount
        await withTaskGroup { group in
            for number in 0..<1_000 { group.addTask { try? await database.note("note \(number)") } }
        }
        #expect(try await Set(database.noted).count == 1_000)
        #expect(await database.commitCount - before < 500)
    }

    @Test("A writer that fails takes nothing of the others with it")
    func failingWriter() async throws {
        let database = try await fixture.notes()
        let errors = await withTaskGroup(returning: [StorageError.Code].self) { group in
            for number in 0..<200 {
                group.addTask { () -> StorageError.Code? in
                    do throws(StorageError) {
                        try await database.write { connection throws(StorageError) in
                            _ = try connection.execute("INSERT INTO note (text) VALUES (?)", .text("half \(number)"))
                            // Every other one breaks the rule that a text is there once.
                            let text = number.isMultiple(of: 2) ? "half \(number)" : "whole \(number)"
                            _ = try connection.execute("INSERT INTO note (text) VALUES (?)", .text(text))
                        }
                        return nil
                    } catch {
                        return error.code
                    }
                }
            }
            return await group.reduce(into: []) { if let code = $1 { $0.append(code) } }
        }
        #expect(errors == Array(repeating: .constraint, count: 100))
        let noted = try await database.noted
        #expect(noted.count == 200)
        #expect(!noted.contains("half 0") && noted.contains("half 1") && noted.contains("whole 1"))
    }

    @Test("A closed database refuses what comes later, after what was begun")
    func closed() async throws {
        let database = try await fixture.notes()
        async let last: Void = database.note("last")
        try await last
        await database.close()
        await #expect(throws: StorageError(.closed, file: fixture.path, "\(fixture.path) was closed")) {
            try await database.note("too late")
        }
        await #expect(throws: StorageError.self) { try await database.noted }
    }

    @Test("Files are 0600 and folders 0700, whatever the umask says")
    func modes() async throws {
        let before = umask(0)
        defer { umask(before) }
        let path = fixture.folder.file("deep/deeper/store.db")
        let database = try await Database(at: path, migrations: StorageFixture.notes)
        try await database.note("x")
        #expect(StorageFixture.mode(of: fixture.folder.file("deep")) == 0o700)
        #expect(StorageFixture.mode(of: fixture.folder.file("deep/deeper")) == 0o700)
        for suffix in ["", "-wal", "-shm"] { #expect(StorageFixture.mode(of: path + suffix) == 0o600, "\(suffix)") }
    }

    @Test("A value is read back as it was written")
    func values() async throws {
        let database = try await fixture.notes()
        let text = "a’\u{0}\u{1F600}\n\u{FEFF}"
        let same = try await database.write { connection throws(StorageError) in
            try connection.first(
                "SELECT ?1, ?2, ?3, ?4, ?5", .text(text), .integer(.min), .bytes([0, 255]), .null, .bytes([])
            ) { row in
                row.text(0) == text && row.integer(1) == .min && row.bytes(2) == [0, 255] && row.text(3) == nil
                    && row.optionalInteger(3) == nil && row.bytes(4) == [] && row.text(4) != nil
            }
        }
        #expect(same == true)
    }

    private final class Probe: AnyWriteJob {
        let outcome = Handover<StorageError?>()

        func run(on connection: SQLiteConnection) throws(StorageError) {}
        func finish(_ error: StorageError?) { outcome.give(error) }
    }

    @Test("One writer more than may wait is refused, and may come again")
    func crowd() async throws {
        let queue = DatabaseQueue("test", file: fixture.path, maximumWaiting: 1)
        _ = try await queue.open(StorageFixture.notes)
        let (first, second, third) = (Probe(), Probe(), Probe())
        try await addTwo(queue, first, second)
        #expect(await second.outcome.value()?.code == .busy)
        #expect(await first.outcome.value() == nil)
        queue.add(third)
        #expect(await third.outcome.value() == nil)
        await queue.close()
    }

    /// Adds two while the queue is held up.
    private func addTwo(_ queue: DatabaseQueue, _ first: Probe, _ second: Probe) async throws {
        let isHeld = DispatchSemaphore(value: 0)
        queue.run { _ in isHeld.wait() }
        queue.add(first)
        queue.add(second)
        isHeld.signal()
    }
}
