// SPDX-License-Identifier: Apache-2.0

import Dispatch
import ExampleSupport

/// Where lines are shown: the terminal, and a demonstration that reads along.
@MainActor
final class Screen {
    /// Every line that is shown; the last 1,000 that were not read.
    let lines: AsyncStream<String>
    private let shown: AsyncStream<String>.Continuation

    nonisolated init() {
        (lines, shown) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1_000))
    }

    /// Shows a line. Whatever others wrote in it has been made printable before.
    func show(_ line: String) {
        say(line)
        shown.yield(line)
    }
}

/// The lines that the user types.
func standardInput() -> AsyncStream<String> {
    let (lines, typed) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingOldest(1_000))
    // `readLine` blocks, which a task must not: this queue has a thread to spare.
    DispatchQueue(label: "standard input").async {
        while let line = readLine() { typed.yield(line) }
        typed.finish()
    }
    return lines
}
