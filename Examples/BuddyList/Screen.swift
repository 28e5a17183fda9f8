// SPDX-License-Identifier: Apache-2.0

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
