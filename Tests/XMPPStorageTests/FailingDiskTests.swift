// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import XMPPCore
import XMPPProtocol
import XMPPTestSupport

@testable import XMPPStorage

@Suite("A disk that fails", .timeLimit(.minutes(5)), .enabled(if: SmallDisk.isPossible, "takes root"))
struct FailingDiskTests {
    private let fixture: StorageFixture

    init() throws {
        fixture = try StorageFixture()
    }

    @Test("A full disk refuses what comes, keeps what is there, and is used again when there is room")
    func full() async throws {
        let disk = try SmallDisk(kilobytes: 512)
        let database = try await Database(at: disk.file("store.db"))
        let outbox = DurableOutbox(database)
        let text = String(repeating: "x", count: 2_000)
        var kept: [String] = []
        var refusal: StorageError?
        for number in 0..<400 where refusal == nil {
            do {
                _ = try await outbox.add(
                    fixture.message(text, id: "\(number)"), of: fixture.romeo, expires: nil)
                kept.append("\(number)")
            } catch let error as StorageError {
                refusal = error
            }
        }
        let error = try #require(refusal)
        #expect(error.code == .full && error.isTemporary && error.message.contains(disk.file("store.db")))
        #expect(try await outbox.waiting(of: fixture.romeo, limit: 1_000).map(\.message.id) == kept)
        // Room is made: the same database goes on.
        #expect(mount("tmpfs", disk.path, "tmpfs", UInt(MS_REMOUNT), "size=4096k,mode=0700") == 0)
        _ = try await outbox.add(fixture.message(text, id: "more"), of: fixture.romeo, expires: nil)
        await database.close()
        let again = try await Database(at: disk.file("store.db"))
        #expect(again.setAside == nil)
        #expect(
            try await DurableOutbox(again).waiting(of: fixture.romeo, limit: 1_000).map(\.message.id) == kept + ["more"]
        )
        await again.close()
    }

    @Test("A disk without room for the file says so, and the same place works later")
    func fullFromTheStart() async throws {
        let disk = try SmallDisk(kilobytes: 64)
        let filler = try #require(fopen(disk.file("filler"), "wb"))
        let block = [UInt8](repeating: 1, count: 4_096)
        while fwrite(block, 1, block.count, filler) == block.count && fflush(filler) == 0 {}
        fclose(filler)
        do throws(StorageError) {
            _ = try await Database(at: disk.file("store.db"))
            Issue.record("opened")
        } catch {
            #expect(error.code == .full, "\(error)")
        }
        unlink(disk.file("filler"))
        #expect(mount("tmpfs", disk.path, "tmpfs", UInt(MS_REMOUNT), "size=4096k,mode=0700") == 0)
        let database = try await Database(at: disk.file("store.db"))
        #expect(database.setAside == nil)
        await database.close()
    }

    @Test("A file system that can only be read is refused by name, and used again when it can be written")
    func readOnly() async throws {
        let disk = try SmallDisk(kilobytes: 1_024)
        await (try await Database(at: disk.file("store.db"))).close()
        #expect(disk.setReadOnly(true))
        do throws(StorageError) {
            _ = try await Database(at: disk.file("store.db"))
            Issue.record("opened")
        } catch {
            #expect(error.code == .readOnly, "\(error)")
        }
        do throws(StorageError) {
            _ = try await Database(at: disk.file("new/store.db"))
            Issue.record("opened")
        } catch {
            #expect(error.code == .readOnly, "\(error)")
        }
        #expect(disk.setReadOnly(false))
        await (try await Database(at: disk.file("store.db"))).close()
    }
}
