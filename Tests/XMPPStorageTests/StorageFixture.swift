// SPDX-License-Identifier: Apache-2.0

import Glibc
import XMPPCore
import XMPPTestSupport

@testable import XMPPStorage

/// A folder with a database in it, gone after the test.
struct StorageFixture {
    let folder: TemporaryFolder
    let romeo: JID
    let juliet: JID

    init() throws {
        folder = try TemporaryFolder(prefix: "swift-xmpp-storage")
        romeo = try JID("romeo@example.net")
        juliet = try JID("juliet@example.net")
    }

    var path: String { folder.file("store.db") }

    func open() async throws -> Database {
        try await Database(at: path)
    }

    /// A database with a table of notes.
    func notes() async throws -> Database {
        try await Database(at: path, migrations: Self.notes)
    }

    static let notes = Migrations(
        applicationID: 7, scripts: ["CREATE TABLE note (text TEXT NOT NULL UNIQUE)"])

    func message(_ body: String, id: String? = nil, to: String = "juliet@example.net") throws -> Message {
        Message(to: try JID(to), body: body, id: id ?? body)
    }

    /// The names in the folder, sorted.
    var names: [String] {
        guard let handle = opendir(folder.path) else { return [] }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names.filter { $0 != "." && $0 != ".." }.sorted()
    }

    static func mode(of path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    static func read(_ path: String) -> [UInt8] {
        guard let file = fopen(path, "rb") else { return [] }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            guard count > 0 else { return bytes }
            bytes += buffer.prefix(count)
        }
    }
}

extension Database {
    /// Notes a text.
    func note(_ text: String) async throws(StorageError) {
        try await write { connection throws(StorageError) in
            _ = try connection.execute("INSERT INTO note (text) VALUES (?)", .text(text))
        }
    }

    /// What was noted.
    var noted: [String] {
        get async throws(StorageError) {
            try await read { connection throws(StorageError) in
                try connection.rows("SELECT text FROM note ORDER BY rowid") { $0.text(0) ?? "" }
            }
        }
    }
}
