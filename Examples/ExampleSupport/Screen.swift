// SPDX-License-Identifier: Apache-2.0

/// Where lines are shown: the terminal, and a demonstration that reads along.
@MainActor
package final class Screen {
    /// Every line that is shown; the last 1,000 that were not read.
    private let lines: AsyncStream<String>
    private let shown: AsyncStream<String>.Continuation

    package nonisolated init() {
        (lines, shown) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1_000))
    }

    /// Shows a line. Whatever others wrote in it has been made printable before.
    package func show(_ line: String) {
        say(line)
        shown.yield(line)
    }

    /// Reads along until all of these lines have been there, in any order.
    ///
    /// - Throws: ``DemonstrationFailure`` when the task was cancelled before.
    package nonisolated func expect(_ expected: [String]) async throws {
        var missing = Set(expected)
        for await line in lines {
            missing.remove(line)
            if missing.isEmpty { return }
        }
        try ExampleSupport.expect(false, missing.joined(separator: ", "))
    }

    /// Reads along until a line fits.
    ///
    /// - Throws: ``DemonstrationFailure`` when the task was cancelled before.
    package nonisolated func expect(_ fits: (String) -> Bool) async throws {
        for await line in lines { if fits(line) { return } }
        try ExampleSupport.expect(false, "another line")
    }
}
