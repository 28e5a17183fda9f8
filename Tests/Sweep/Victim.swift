// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import SocketIO
internal import XMPP
internal import XMPPStorage

/// The client that is killed, and the one that goes on where it was: puts messages into its outbox, says on standard
/// output which of them are there, sends them, and waits until all have come back as echoes and are at the server.
struct Victim {
    /// How long nothing may happen before it gives up.
    private static let patience: Duration = .seconds(20)

    private let port: UInt16
    private let authority: String
    private let path: String
    private let ids: [String]

    /// The arguments: port, file with the authority, database, and the ids of the messages to send.
    init?(_ arguments: ArraySlice<String>) {
        let words = Array(arguments)
        guard words.count >= 3, let port = UInt16(words[0]) else { return nil }
        self.port = port
        authority = words[1]
        path = words[2]
        ids = Array(words[3...])
    }

    /// - Returns: The exit status: 0 when everything arrived.
    func live() async throws -> Int32 {
        let account = try JID("romeo@example.net")
        let juliet = try JID("juliet@example.net/balcony")
        let database = try await Database(at: path)
        if let aside = database.setAside { throw StorageError(.damaged, file: aside, "the database was damaged") }
        let (outbox, journal) = (DurableOutbox(database), EventJournal(database))
        let (commits, commit) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let store = DurableStreamStateStore(
            database,
            arrived: { connection, _, stanzas throws(StorageError) in
                try journal.append(stanzas.compactMap { $0["id"].map { Array($0.utf8) } }, on: connection)
            }, committed: { commit.yield() })
        let client = XMPPClient(
            configuration(try account.withResource("orchard")),
            reconnect: ReconnectPolicy(firstDelay: .milliseconds(1), minimumDelay: .milliseconds(1)), store: store)
        try await client.start()
        for id in ids {
            _ = try await outbox.add(Message(to: juliet, body: id, id: id), of: account, expires: nil)
            say("queued \(id)")
            try await client.sendWaiting(in: outbox)
        }
        try await client.sendWaiting(in: outbox)
        let timer = SystemClock().schedule(after: Self.patience, on: StreamExecutor(label: "victim")) {
            commit.finish()
        }
        commit.yield()
        var missing = true
        for await _ in commits {
            missing = try await isMissing(database, journal)
            if !missing { break }
        }
        timer.cancel()
        await client.stop()
        for event in try await journal.events(after: 0, limit: 10_000).events {
            say("kept \(String(decoding: event.bytes, as: UTF8.self))")
        }
        let check = try await database.read { connection throws(StorageError) in
            try connection.first("PRAGMA integrity_check") { $0.text(0) ?? "" }
        }
        say("integrity \(check ?? "")")
        await database.close()
        return missing ? 1 : 0
    }

    /// Whether the server has not got everything, or something has not come back.
    private func isMissing(_ database: Database, _ journal: EventJournal) async throws -> Bool {
        let states = try await database.read { connection throws(StorageError) in
            try connection.rows("SELECT id, state FROM outbox") { (id: $0.text(0) ?? "", state: $0.text(1)) }
        }
        let kept = Set(
            try await journal.events(after: 0, limit: 10_000).events.map { String(decoding: $0.bytes, as: UTF8.self) })
        return states.contains { $0.state != "server" || !kept.contains("echo-\($0.id)") }
    }

    private func configuration(_ jid: JID) -> XMPPConfiguration {
        var configuration = XMPPConfiguration(jid: jid, password: "secret")
        configuration.host = "127.0.0.1"
        configuration.port = port
        configuration.certificateAuthorityFile = authority
        return configuration
    }

    /// One write each: what was said was said, also if the next call is the last.
    private func say(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = write(STDOUT_FILENO, bytes, bytes.count)
    }
}
