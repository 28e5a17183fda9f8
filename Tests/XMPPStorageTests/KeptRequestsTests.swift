// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore

@testable import XMPPStorage

@Suite("Requests for a subscription that have no answer", .timeLimit(.minutes(5)))
struct KeptRequestsTests {
    private func request(_ name: String, _ text: String? = nil, at: Int64 = 0) throws -> KeptRequest {
        KeptRequest(jid: try JID("\(name)@example.com"), text: text, at: DateTime(millisecondsSinceEpoch: at))
    }

    private func add(_ requests: [KeptRequest], of account: JID, in database: Database) async throws {
        try await database.write { connection throws(StorageError) in
            for request in requests { try KeptRequests.add(request, of: account, on: connection) }
        }
    }

    @Test("A request is there until it is answered, oldest first; the later one of an address says what counts")
    func keeping() async throws {
        let fixture = try StorageFixture()
        let database = try await fixture.open()
        let kept = KeptRequests(database)
        let (tybalt, paris) = (try request("tybalt", "first", at: 1), try request("paris", at: 2))
        let again = try request("tybalt", "second", at: 3)
        try await add([tybalt, paris, again], of: fixture.romeo, in: database)
        try await add([paris], of: fixture.juliet, in: database)
        #expect(try await kept.requests(of: fixture.romeo) == [again, paris])
        try await kept.remove(tybalt.jid, of: fixture.romeo)
        #expect(try await kept.requests(of: fixture.romeo) == [paris])
        try await kept.removeAll(of: fixture.romeo)
        #expect(try await kept.requests(of: fixture.romeo).isEmpty)
        #expect(try await kept.requests(of: fixture.juliet) == [paris])
    }

    @Test("So many are kept of an account, and not one more; those that are there can change all the same")
    func limit() async throws {
        let fixture = try StorageFixture()
        let database = try await fixture.open()
        let all = try (0...KeptRequests.maximumRequests).map { try request("n\($0)") }
        try await add(all + [request("n0", "later")], of: fixture.romeo, in: database)
        let kept = try await KeptRequests(database).requests(of: fixture.romeo)
        #expect(kept.map(\.jid) == all.dropLast().map(\.jid) && kept.first?.text == "later")
    }
}
