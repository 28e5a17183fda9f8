// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPProtocol
import XMPPXML

@testable import XMPP

@Suite("The queue of what is to be kept")
struct KeepingQueueTests {
    private func queue() throws -> KeepingQueue {
        KeepingQueue(InMemoryStreamStateStore(), of: try JID("romeo@example.net"))
    }

    private func sending(_ id: String, _ number: Int) -> KeepingQueue.Job {
        let element = Element("message", namespace: Namespace.client, attributes: ["id": id])
        return .sending(
            KeepingQueue.Sending(
                element: element, bytes: [], time: DateTime(millisecondsSinceEpoch: 0), number: number))
    }

    private func arrived(_ count: UInt32, _ ids: String...) -> KeepingQueue.Job {
        .received(
            ArrivedStanzas(
                count: count,
                messages: ids.map { Element("message", namespace: Namespace.client, attributes: ["id": $0]) }))
    }

    @Test("What comes together goes to the store together, in order, and counts on from what was handled")
    func batch() throws {
        var queue = try queue()
        for job in [
            sending("a", 1), sending("b", 2), arrived(3, "x"), .step(.acknowledged(7)), sending("c", 3), arrived(2),
        ] { queue.add(job) }
        let (begins, again) = (queue.begin(), queue.begin())
        #expect(begins && !again)
        let taken = queue.take(handled: .max)
        let batch = try #require(taken)
        #expect(batch.steps.count == 5)
        #expect(batch.steps[2] == .acknowledged(7))
        guard case .sent(let first) = batch.steps[0], case .received(let messages, let handled) = batch.steps[1],
            case .received(let none, let last) = batch.steps[4]
        else { return #expect(Bool(false), "\(batch.steps)") }
        #expect(first.map { $0.element["id"] } == ["a", "b"] && messages.map { $0["id"] } == ["x"])
        #expect(handled == 2 && none.isEmpty && last == 4, "modulo 2^32")
        #expect(queue.sendingCount == 3 && queue.unkept == 5 && !queue.isSettled)
        queue.kept(batch)
        let more = queue.take(handled: 0)
        #expect(more == nil && queue.isSettled)
        #expect(queue.sendingCount == 0 && queue.unkept == 0)
    }

    @Test("Where nobody counts, messages are kept all the same, and nothing else")
    func uncounted() throws {
        var queue = try queue()
        queue.add(arrived(1, "x"))
        queue.add(arrived(1))
        _ = queue.begin()
        let steps = queue.take(handled: nil)?.steps ?? []
        #expect(steps.count == 1)
        guard case .received(let messages, nil) = steps.first else { return #expect(Bool(false), "\(steps)") }
        #expect(messages.map { $0["id"] } == ["x"])
    }

    @Test(
        "What could not be kept is tried again after 1 s, twice as long each time, at most 30 s; senders are told at once"
    )
    func failures() throws {
        var queue = try queue()
        var delays: [Duration] = []
        for round in 1...7 {
            queue.add(sending("a", round))
            if round == 1 { queue.add(arrived(1, "x")) }
            _ = queue.begin()
            let taken = queue.take(handled: 0)
            let batch = try #require(taken)
            let (given, retry) = queue.failed(batch)
            #expect(given.map(\.number) == [round])
            delays.append(retry)
        }
        #expect(delays == [1, 2, 4, 8, 16, 30, 30].map { .seconds($0) })
        #expect(queue.isSettled && queue.unkept == 1 && queue.sendingCount == 0)
        queue.forgetReceived()
        let begins = queue.begin()
        #expect(queue.unkept == 0 && !begins)
    }

    @Test("The stream reads no more when a thousand stanzas wait to be kept")
    func overfull() throws {
        var queue = try queue()
        queue.add(arrived(KeepingQueue.maximumUnkept - 1))
        #expect(!queue.isOverfull)
        queue.add(arrived(1))
        #expect(queue.isOverfull)
    }

    @Test("The stream reads no more when 8 MiB of messages wait to be kept, however few they are")
    func overfullOfBytes() throws {
        var queue = try queue()
        let text = String(repeating: "x", count: 1_048_576)
        let message = Element("message", namespace: Namespace.client, text: text)
        for _ in 0..<7 { queue.add(.received(ArrivedStanzas(count: 1, messages: [message]))) }
        #expect(!queue.isOverfull)
        queue.add(.received(ArrivedStanzas(count: 1, messages: [message])))
        #expect(queue.isOverfull && queue.unkept == 8)
        _ = queue.begin()
        let taken = queue.take(handled: 0)
        queue.kept(try #require(taken))
        #expect(!queue.isOverfull && queue.unkeptBytes == 0)
        queue.add(.received(ArrivedStanzas(count: 1, messages: [message])))
        queue.forgetReceived()
        #expect(queue.unkeptBytes == 0)
    }

    @Test("What can never be kept is found among all that goes to the store together, and given up alone")
    func refused() throws {
        var queue = try queue()
        for job in [sending("a", 1), arrived(4, "x", "poison", "y"), sending("b", 2)] { queue.add(job) }
        _ = queue.begin()
        let all = queue.take(handled: 10)
        let nothing = queue.refused(try #require(all))
        #expect(nothing?.sending == nil && nothing?.message == nil && nothing != nil)
        var (kept, given): ([String], [String]) = ([], [])
        var handled: UInt32 = 10
        while let batch = queue.take(handled: handled) {
            #expect(batch.jobs.count == 1)
            var ids: [String?] = []
            for step in batch.steps {
                if case .sent(let stanzas) = step { ids += stanzas.map { $0.element["id"] } }
                if case .received(let messages, let count) = step {
                    ids += messages.map { $0["id"] }
                    handled = count ?? handled
                }
            }
            if ids.contains("poison") {
                given += [queue.refused(batch)?.message?["id"]].compactMap { $0 }
            } else {
                queue.kept(batch)
                kept += ids.compactMap { $0 }
            }
        }
        #expect(kept == ["a", "x", "y", "b"] && given == ["poison"] && handled == 14)
        #expect(queue.unkept == 0 && queue.unkeptBytes == 0 && queue.sendingCount == 0)
        // From then on all goes together again.
        for job in [arrived(1, "z"), arrived(1, "z")] { queue.add(job) }
        _ = queue.begin()
        #expect(queue.take(handled: 0)?.jobs.count == 2)
    }

    @Test("A sender of what can never be kept is told, and a step of the session is tried again")
    func refusedAlone() throws {
        var queue = try queue()
        queue.add(sending("a", 7))
        _ = queue.begin()
        let first = queue.take(handled: 0)
        #expect(queue.refused(try #require(first))?.sending?.number == 7 && queue.sendingCount == 0)
        queue.add(.step(.acknowledged(1)))
        let second = queue.take(handled: 0)
        #expect(queue.refused(try #require(second)) == nil)
    }

    @Test("An answer that nobody waits for is not given up when the store refuses, but tried again")
    func replies() throws {
        var queue = try queue()
        queue.add(sending("reply", 0))
        queue.add(sending("a", 1))
        _ = queue.begin()
        let taken = queue.take(handled: 0)
        let batch = try #require(taken)
        let (given, _) = queue.failed(batch)
        #expect(given.map(\.number) == [1] && queue.sendingCount == 1)
        _ = queue.begin()
        guard case .sent(let stanzas) = queue.take(handled: 0)?.steps.first else { return #expect(Bool(false)) }
        #expect(stanzas.map { $0.element["id"] } == ["reply"])
    }

    @Test("An acknowledgement that says nothing new is not kept, and a later one takes the place of the one that waits")
    func acknowledgements() throws {
        var queue = try queue()
        for count: UInt32 in [1, 1, 2, 3, 3] { queue.add(.step(.acknowledged(count))) }
        _ = queue.begin()
        #expect(queue.take(handled: 0)?.steps == [.acknowledged(3)])
        queue.add(.step(.acknowledged(3)))
        #expect(queue.take(handled: 0) == nil)
        let state = StreamState(jid: try JID("romeo@example.net/a"), id: nil)
        for step in [StreamProgress.began(state), .acknowledged(3)] { queue.add(.step(step)) }
        _ = queue.begin()
        #expect(queue.take(handled: 0)?.steps == [.began(state), .acknowledged(3)], "a new session counts anew")
    }

    @Test("After a failure only a sender that waits makes the store try before its time")
    func urgency() throws {
        var queue = try queue()
        #expect(queue.isUrgent(arrived(1)) && queue.isUrgent(.step(.acknowledged(1))))
        queue.add(arrived(1, "x"))
        _ = queue.begin()
        let taken = queue.take(handled: 0)
        _ = queue.failed(try #require(taken))
        #expect(!queue.isUrgent(arrived(1)) && !queue.isUrgent(.step(.acknowledged(1))))
        #expect(!queue.isUrgent(sending("reply", 0)) && queue.isUrgent(sending("a", 1)))
    }

    @Test("What was refused is given up with the stream, and what the store is at work on is not")
    func givenUp() throws {
        var queue = try queue()
        queue.add(arrived(1, "x"))
        queue.add(sending("reply", 0))
        _ = queue.begin()
        let taken = queue.take(handled: 0)
        queue.add(.step(.acknowledged(9)))
        queue.giveUp()
        #expect(queue.isAtWork && !queue.isSettled)
        _ = queue.failed(try #require(taken))
        queue.giveUp()
        let begins = queue.begin()
        #expect(!begins && queue.unkept == 0 && queue.sendingCount == 0)
    }
}
