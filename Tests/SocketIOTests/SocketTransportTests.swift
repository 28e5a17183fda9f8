// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import SocketIO

@Suite(.timeLimit(.minutes(5))) struct SocketTransportTests {
    @Test("data and end of input that arrive together are both seen, 1,000 times")
    func dataAndCloseTogether() async throws {
        let long = pattern(70_000)
        for round in 0..<1_000 {
            let fixture = try Fixture()
            let bytes = round % 5 == 0 ? long : Array(long.prefix(10))
            if round % 2 == 0 {
                // Everything is there before the transport starts.
                if bytes.count < 1000 { fixture.peerWrites(bytes) }
            }
            fixture.start()
            if !(round % 2 == 0 && bytes.count < 1000) { fixture.peerWrites(bytes) }
            fixture.peerCloses()
            await fixture.recorder.waitForEndOfInput()
            #expect(fixture.recorder.summary == [.received(bytes), .endOfInput])
            fixture.onQueue { $0.abort() }
        }
    }

    @Test("what is sent arrives whole and in order, far beyond what the system buffers")
    func sendsEverything() async throws {
        let fixture = try Fixture()
        fixture.start()
        let bytes = pattern(5_000_000)
        fixture.onQueue { transport in
            var rest = bytes[...]
            while !rest.isEmpty {
                transport.send(Array(rest.prefix(40_001)))
                rest = rest.dropFirst(40_001)
            }
            #expect(transport.pendingBytes == bytes.count)
            transport.close()
        }
        let arrived = fixture.peerReadsAll()
        #expect(arrived == bytes)
        fixture.peerCloses()
        await fixture.recorder.waitForEnd()
        #expect(fixture.recorder.events == [.closed(nil)])
    }

    @Test("a congested queue says once that it has drained")
    func drained() async throws {
        let fixture = try Fixture(writes: WriteQueue(highWaterMark: 500_000, lowWaterMark: 1000))
        fixture.start()
        fixture.onQueue { $0.send(pattern(3_000_000)) }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var count = 0
        while count < 3_000_000 { count += recv(fixture.peer, &buffer, buffer.count, 0) }
        await fixture.recorder.wait { $0.contains(.drained) }
        #expect(fixture.recorder.events == [.drained])
        fixture.onQueue {
            #expect($0.pendingBytes == 0); $0.abort()
        }
        fixture.peerCloses()
    }

    @Test("a paused transport delivers nothing, and everything once it is resumed")
    func pauses() async throws {
        let fixture = try Fixture()
        fixture.start()
        fixture.onQueue {
            $0.pauseReading(); $0.pauseReading()
        }
        fixture.peerWrites(pattern(1000))
        fixture.peerCloses()
        // Two turns of the queue later nothing has come.
        fixture.onQueue { _ in }
        fixture.onQueue { _ in }
        #expect(fixture.recorder.events.isEmpty)
        fixture.onQueue {
            $0.resumeReading(); $0.resumeReading()
        }
        await fixture.recorder.waitForEndOfInput()
        #expect(fixture.recorder.summary == [.received(pattern(1000)), .endOfInput])
        fixture.onQueue { $0.abort() }
    }

    @Test("pausing from inside an event takes hold at once")
    func pausesInsideEvent() async throws {
        let fixture = try Fixture()
        fixture.peerWrites(pattern(100_000))
        fixture.onQueue { [recorder = fixture.recorder] transport in
            transport.start { event in
                recorder.record(event)
                transport.pauseReading()
            }
        }
        await fixture.recorder.wait { !$0.isEmpty }
        for _ in 0..<20 { fixture.onQueue { _ in } }
        #expect(fixture.recorder.events.count == 1)
        fixture.onQueue { $0.abort() }
        await fixture.recorder.waitForEnd()
        fixture.peerCloses()
    }

    @Test("a peer that sends without end does not keep timers waiting")
    func firehose() async throws {
        let fixture = try Fixture()
        let total = 50_000_000
        let seenAtTimer = Locked<Int?>(nil)
        fixture.onQueue { [recorder = fixture.recorder] transport in
            transport.start { event in
                let isFirst = recorder.events.isEmpty
                recorder.record(event)
                guard isFirst else { return }
                _ = SystemClock().schedule(after: .zero, on: transport.executor) {
                    let count = recorder.events.count
                    seenAtTimer.withLock { $0 = count }
                }
            }
        }
        let writer = BackgroundWork {
            fixture.peerWrites([UInt8](repeating: 7, count: total)); fixture.peerCloses()
        }
        await fixture.recorder.waitForEndOfInput()
        writer.join()
        let count = try #require(seenAtTimer.withLock { $0 })
        #expect(count < fixture.recorder.events.count / 2)
        #expect(
            fixture.recorder.events.allSatisfy {
                if case .received(let bytes) = $0 { bytes.count <= SocketTransport.maximumBytesPerTurn } else { true }
            })
        fixture.onQueue { $0.abort() }
    }

    @Test("closing waits for the peer's end, and at most five seconds")
    func closeDeadline() async throws {
        let fixture = try Fixture()
        fixture.start()
        fixture.onQueue {
            $0.send([1]); $0.close(); $0.close()
        }
        #expect(fixture.peerReadsAll() == [1])
        fixture.onQueue { _ in }
        #expect(fixture.recorder.events.isEmpty)
        fixture.clock.advance(by: .milliseconds(4999))
        fixture.onQueue { _ in }
        #expect(fixture.recorder.events.isEmpty)
        fixture.clock.advance(by: .milliseconds(1))
        await fixture.recorder.waitForEnd()
        #expect(fixture.recorder.events == [.closed(nil)])
        fixture.peerCloses()
    }

    @Test("closing after the peer's end ends at once")
    func closeAfterEnd() async throws {
        let fixture = try Fixture()
        fixture.start()
        fixture.peerCloses()
        await fixture.recorder.waitForEndOfInput()
        fixture.onQueue { $0.close() }
        await fixture.recorder.waitForEnd()
        #expect(fixture.recorder.events == [.endOfInput, .closed(nil)])
    }

    @Test("what a peer sends after close() is dropped, also when reading was paused")
    func closeWhilePaused() async throws {
        let fixture = try Fixture()
        fixture.start()
        fixture.onQueue { $0.pauseReading() }
        fixture.peerWrites(pattern(100_000))
        fixture.onQueue { $0.close() }
        #expect(fixture.peerReadsAll() == [])
        fixture.peerCloses()
        await fixture.recorder.waitForEnd()
        #expect(fixture.recorder.events == [.closed(nil)])
    }

    @Test("abort drops what is queued, and the peer sees the end")
    func aborts() async throws {
        let fixture = try Fixture()
        fixture.start()
        fixture.onQueue {
            $0.send(pattern(10)); $0.abort(); $0.abort(); $0.send([1]); $0.close()
        }
        #expect(fixture.peerReadsAll() == [])
        await fixture.recorder.waitForEnd()
        fixture.onQueue { _ in }
        #expect(fixture.recorder.events == [.closed(nil)])
        fixture.peerCloses()
    }

    @Test("a transport that was aborted before it started tells its handler of the end")
    func abortBeforeStart() async throws {
        let fixture = try Fixture()
        fixture.onQueue { $0.abort() }
        fixture.start()
        await fixture.recorder.waitForEnd()
        #expect(fixture.recorder.events == [.closed(nil)])
        fixture.peerCloses()
    }

    @Test("no event is delivered from inside a call")
    func neverReentrant() async throws {
        let fixture = try Fixture()
        let isInside = Locked(false)
        fixture.peerWrites([1])
        fixture.onQueue { [recorder = fixture.recorder] transport in
            isInside.withLock { $0 = true }
            transport.start { event in
                #expect(!isInside.withLock { $0 })
                recorder.record(event)
            }
            transport.send([1])
            transport.abort()
            isInside.withLock { $0 = false }
        }
        await fixture.recorder.waitForEnd()
        fixture.peerCloses()
    }

    @Test("writing to a peer that is gone is an error and no signal, and its last words are still delivered")
    func brokenPipe() async throws {
        let fixture = try Fixture()
        fixture.peerWrites(pattern(300))
        fixture.peerCloses()
        fixture.onQueue { [recorder = fixture.recorder] transport in
            transport.start { recorder.record($0) }
            transport.send(pattern(10))
        }
        await fixture.recorder.waitForEnd()
        #expect(fixture.recorder.bytes == pattern(300))
        guard case .closed(let error?) = fixture.recorder.events.last else {
            Issue.record("no error")
            return
        }
        #expect(error.code == .connectionLost)
    }

    @Test("a transport that nobody holds any more is closed")
    func dropped() throws {
        var fixture: Fixture? = try Fixture()
        let peer = try #require(fixture?.peer)
        fixture?.start()
        fixture?.onQueue { $0.pauseReading() }
        fixture = nil
        var byte: UInt8 = 0
        #expect(recv(peer, &byte, 1, 0) == 0)
        close(peer)
    }

    @Test("closing needs no owner: what is queued still arrives")
    func closedAndDropped() throws {
        var fixture: Fixture? = try Fixture()
        let peer = try #require(fixture?.peer)
        fixture?.start()
        fixture?.onQueue {
            $0.send(pattern(1_000_000)); $0.close()
        }
        fixture = nil
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var total = 0
        while true {
            let count = recv(peer, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            total += count
        }
        #expect(total == 1_000_000)
        close(peer)
    }

    @Test("a handler that is replaced inside an event gets the next one")
    func replacesHandler() async throws {
        let fixture = try Fixture()
        let second = EventRecorder()
        fixture.onQueue { [recorder = fixture.recorder] transport in
            transport.start { event in
                recorder.record(event)
                transport.replaceHandler { second.record($0) }
            }
        }
        fixture.peerWrites([1])
        await fixture.recorder.waitForBytes(1)
        fixture.peerWrites([2])
        fixture.peerCloses()
        await second.waitForEndOfInput()
        #expect(fixture.recorder.summary == [.received([1])])
        #expect(second.summary == [.received([2]), .endOfInput])
        fixture.onQueue { $0.abort() }
    }
}
