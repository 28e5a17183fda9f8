// SPDX-License-Identifier: Apache-2.0

/// When to try again after a connection was lost (RFC 6120 §3.3): a random start, then truncated exponential back-off with
/// full jitter, so that the clients of a server that comes back do not arrive all at once.
public struct ReconnectPolicy: Sendable, Hashable {
    /// The first attempt comes at a random moment within this span; default 60 s.
    public var firstDelay: Duration
    /// The span of the second attempt; doubled for each one after it. Default 15 s.
    public var baseDelay: Duration
    /// The longest span; default 300 s.
    public var maximumDelay: Duration
    /// No attempt comes sooner than this after the one before; default 1 s.
    public var minimumDelay: Duration

    private var attempts = 0

    /// Makes a policy.
    public init(
        firstDelay: Duration = .seconds(60), baseDelay: Duration = .seconds(15),
        maximumDelay: Duration = .seconds(300), minimumDelay: Duration = .seconds(1)
    ) {
        self.firstDelay = firstDelay
        self.baseDelay = baseDelay
        self.maximumDelay = maximumDelay
        self.minimumDelay = minimumDelay
    }

    /// The session was established: the next loss starts from the beginning.
    package mutating func established() {
        attempts = 0
    }

    /// The connection was lost, or an attempt failed.
    ///
    /// - Parameter random: A number from 0 up to, not including, 1.
    /// - Returns: How long to wait before the next attempt.
    package mutating func failed(random: Double) -> Duration {
        let span: Duration
        if attempts == 0 {
            span = firstDelay
        } else {
            let doublings = min(attempts - 1, 16)
            span = min(maximumDelay, baseDelay * (1 << doublings))
        }
        attempts += 1
        let fraction = random.isFinite ? min(max(random, 0), 1) : 0
        return max(minimumDelay, span * fraction)
    }
}
