// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// How long tests wait for what has to come. What does come ends the wait: only a failure takes so long.
public enum Patience {
    /// The patience of this package's servers: 30 seconds; two minutes in a program that is built with the thread
    /// sanitizer, which makes everything some ten times slower.
    public static let usual: Duration = isSanitized ? .seconds(120) : .seconds(30)

    /// Whether the thread sanitizer's runtime is linked into this program: dlsym(3).
    package static let isSanitized = dlsym(nil, "__tsan_init") != nil

    /// How often ``wait(for:within:until:)`` looks in a row before it pauses in between.
    private static let maximumQuickLooks = 100

    /// Looks again and again whether something is so, and returns when it is. For what nobody tells of: where there is
    /// an event to wait for, wait for that.
    ///
    /// - Parameters:
    ///   - what: What is waited for, for the person who reads the test's output.
    ///   - limit: How long to look; default ``usual``.
    ///   - isSo: The question; asked once at least.
    /// - Throws: ``TestSupportError`` that names `what` when the time is up or the task is cancelled, as by a test's
    ///   own time limit; what `isSo` throws.
    package static func wait(
        for what: String, within limit: Duration = usual, until isSo: () async throws -> Bool
    ) async throws {
        let end = ContinuousClock.now + limit
        var looks = 0
        while try await !isSo() {
            looks += 1
            guard !Task.isCancelled else { throw TestSupportError("called off while waiting for \(what)") }
            guard ContinuousClock.now < end else { throw TestSupportError("waited \(limit) in vain for \(what)") }
            // What takes longer than a moment is done by others, who need the processor for it.
            if looks < maximumQuickLooks { await Task.yield() } else { await Pause.briefly() }
        }
    }
}
