// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPTestSupport

@testable import XMPPStorage

@Suite("The versions of the tables", .timeLimit(.minutes(5)))
struct MigrationsTests {
    private let fixture: StorageFixture
    private static let scripts = [
        "CREATE TABLE note (text TEXT NOT NULL UNIQUE)",
        "ALTER TABLE note ADD COLUMN mood TEXT; UPDATE note SET mood = 'old'",
        "CREATE TABLE extra (x); INSERT INTO extra VALUES (1)",
    ]

    init() throws {
        fixture = try StorageFixture()
    }

    private func database(version: Int, _ scripts: [String] = scripts) async throws -> Database {
        try await Database(
            at: fixture.path, migrations: Migrations(applicationID: 7, scripts: Array(scripts.prefix(version))))
    }

    private func version() throws -> Int64? {
        try SQLiteConnection(fixture.path, busyTimeout: 0).first("PRAGMA user_version") { $0.integer(0) }
    }

    @Test("A file of any version becomes one of the present version, with what is in it", arguments: [1, 2, 3])
    func forward(_ first: Int) async throws {
        let old = try await database(version: first)
        try await old.note("kept")
        await old.close()
        let new = try await database(version: 3)
        #expect(try await new.noted == ["kept"])
        await new.close()
        #expect(try version() == 3)
    }

    @Test("A step that fails has not happened, those before it have")
    func failingStep() async throws {
        let old = try await database(version: 1)
        try await old.note("kept")
        await old.close()
        let broken = Self.scripts.prefix(2) + ["CREATE TABLE half (x); CREATE TABLE note (x)"]
        await #expect(throws: StorageError.self) { try await database(version: 3, Array(broken)) }
        #expect(try version() == 2)
        let new = try await database(version: 3)
        #expect(try await new.noted == ["kept"])
    }

    @Test("A later version is refused, whatever it is")
    func downgrade() async throws {
        await (try database(version: 3)).close()
        do {
            _ = try await database(version: 2)
            Issue.record("opened")
        } catch let error as StorageError {
            #expect(error.code == .newer)
            #expect(error.message.contains("version 3, this one knows 2"))
        }
    }

    @Test("Two processes that open an old file at once migrate it once")
    func together() async throws {
        await (try database(version: 1)).close()
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { await (try database(version: 3)).close() }
            }
            try await group.waitForAll()
        }
        #expect(try version() == 3)
        let rows = try SQLiteConnection(fixture.path, busyTimeout: 0).rows("SELECT x FROM extra") { $0.integer(0) }
        #expect(rows == [1])
    }

    @Test("A version that nobody writes is damage: the file is set aside, and the process goes on")
    func negativeVersion() async throws {
        await (try database(version: 3)).close()
        try SQLiteConnection(fixture.path, busyTimeout: 0).script("PRAGMA user_version = -1")
        let database = try await database(version: 3)
        #expect(database.setAside != nil)
        #expect(try version() == 3)
    }
}
