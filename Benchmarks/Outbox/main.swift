// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import Dispatch
internal import Glibc
internal import XMPP
internal import XMPPStorage
internal import XMPPTestSupport

// How many messages a second the outbox takes, each on the disk before its sender goes on: `xmpp-outbox [SENDERS]`, in
// a folder below $TMPDIR; a memory disk says nothing. Compared with the same rows inserted plainly, one transaction and
// one fsync each, as SQLite does by itself.

/// How many seconds something takes.
func seconds(_ work: () async throws -> Void) async rethrows -> Double {
    let clock = ContinuousClock()
    let time = try await clock.measure { try await work() }
    return Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
}

/// Inserts rows like those of the outbox into a file of the same settings.
func insertPlainly(_ count: Int, into path: String) -> Bool {
    var database: OpaquePointer?
    guard sqlite3_open(path, &database) == SQLITE_OK else { return false }
    defer { sqlite3_close(database) }
    let settings = """
        PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;
        CREATE TABLE outbox (place INTEGER PRIMARY KEY AUTOINCREMENT, account TEXT NOT NULL, id TEXT NOT NULL,
            recipient TEXT NOT NULL, state TEXT NOT NULL, stanza BLOB NOT NULL, UNIQUE (account, id, recipient));
        """
    guard sqlite3_exec(database, settings, nil, nil, nil) == SQLITE_OK else { return false }
    for number in 0..<count {
        let insert = """
            INSERT INTO outbox (account, id, recipient, state, stanza) VALUES ('romeo@example.net', '\(number)',
                'juliet@example.net', 'queued', '<message id=''\(number)''><body>\(text)</body></message>');
            """
        guard sqlite3_exec(database, insert, nil, nil, nil) == SQLITE_OK else { return false }
    }
    return true
}

let text = String(repeating: "word ", count: 40)

/// Measures, prints, and gives the exit status.
@Sendable func run(_ arguments: [String]) async throws -> Int32 {
    let senders = arguments.first.flatMap { Int($0) } ?? 256
    let folder = try TemporaryFolder(prefix: "swift-xmpp-outbox")
    let plain = 500
    var isPlainDone = false
    let plainTime = await seconds { isPlainDone = insertPlainly(plain, into: folder.file("plain.db")) }
    guard isPlainDone else {
        print("plain inserts failed")
        return 1
    }
    let database = try await Database(at: folder.file("outbox/outbox.db"))
    let outbox = DurableOutbox(database)
    let account = try JID("romeo@example.net")
    let juliet = try JID("juliet@example.net")
    let each = max(1, 20_000 / senders)
    let groupTime = try await seconds {
        try await withThrowingTaskGroup { group in
            for sender in 0..<senders {
                group.addTask {
                    for number in 0..<each {
                        let message = Message(to: juliet, body: text, id: "\(sender)-\(number)")
                        _ = try await outbox.add(message, of: account, expires: nil)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
    await database.close()
    let (slow, fast) = (Double(plain) / plainTime, Double(senders * each) / groupTime)
    print("plain inserts, one fsync each\t\(Int(slow))/s")
    print("outbox, \(senders) senders at once\t\(Int(fast))/s\t\(Int(fast / slow))x")
    return 0
}

let done = DispatchSemaphore(value: 0)
Task.detached {
    do {
        exit(try await run(Array(CommandLine.arguments.dropFirst())))
    } catch {
        print("xmpp-outbox: \(error)")
        exit(1)
    }
}
done.wait()
