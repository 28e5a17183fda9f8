// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// How long tests wait for what has to come. What does come ends the wait: only a failure takes so long.
public enum Patience {
    /// The patience of this package's servers: 30 seconds; two minutes in a program that is built with the thread sanitizer,
    /// which makes everything some ten times slower.
    public static let usual: Duration = isSanitized ? .seconds(120) : .seconds(30)

    /// Whether the thread sanitizer's runtime is linked into this program: dlsym(3).
    package static let isSanitized = dlsym(nil, "__tsan_init") != nil
}
