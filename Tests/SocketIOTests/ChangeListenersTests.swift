// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing

@Suite("Those who want to know of changes", .timeLimit(.minutes(5)))
struct ChangeListenersTests {
    @Test("Each hears of a change, once for those that came while it was at work, and of the end")
    func hears() async {
        let listeners = ChangeListeners()
        var one = listeners.stream().makeAsyncIterator()
        var other = listeners.stream().makeAsyncIterator()
        listeners.raise()
        listeners.raise()
        #expect(await one.next() != nil)
        #expect(await other.next() != nil)
        listeners.finish()
        #expect(await one.next() == nil)
        #expect(await other.next() == nil)
        var late = listeners.stream().makeAsyncIterator()
        #expect(await late.next() == nil)
    }

    @Test("Who stops listening is forgotten")
    func forgotten() async {
        let listeners = ChangeListeners()
        let task = Task { [stream = listeners.stream()] in
            for await _ in stream {}
        }
        #expect(listeners.count == 1)
        task.cancel()
        await task.value
        #expect(listeners.count == 0)
    }
}
