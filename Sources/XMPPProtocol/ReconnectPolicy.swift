// SPDX-License-Identifier: Apache-2.0

/// When to try again after a connection was lost (RFC 6120 §3.3): a random start, then truncated exponential back-off
/// with full jitter, so that the clients of a server that comes back do not arrive all at once.
public struct ReconnectPolicy: Sendable, Hashable {
    /// After a connection was lost without a word, and the server keeps the session, the first attempt comes at a
    /// random moment within this span; default 3 s. It doubles, up to ``firstDelay``, while sessions last less than a
    /// minute.
    ///
    /// RFC 6120 §3.3 asks for up to 60 s so that the clients of a server that was restarted do not arrive all at once.
    /// A server that goes down in order says so, and a session that it has ended is not resumable: then ``firstDelay``
    /// holds. What is left is mostly the network of this one client. Where it was the server all the same, the attempt
    /// fails, and the next one comes after ``firstDelay``.
    public var resumptionDelay: Duration
    /// The first attempt comes at a random moment within this span; default 60 s.
    public var firstDelay: Duration
    /// The span of the second attempt; doubled for each one after it. Default 15 s.
    public var baseDelay: Duration
    /// The longest span, of which the second half is drawn from; default 300 s.
    public var maximumDelay: Duration
    /// No attempt comes sooner than this after the one before, and all spans begin with it; default 1 s.
    public var minimumDelay: Duration

    private var attempts = 0
    private var interruptions = 0

    /// Makes a policy.
    public init(
        firstDelay: Duration = .seconds(60), baseDelay: Duration = .seconds(15),
        maximumDelay: Duration = .seconds(300), minimumDelay: Duration = .seconds(1),
        resumptionDelay: Duration = .seconds(3)
    ) {
        self.firstDelay = firstDelay
        self.baseDelay = baseDelay
        self.maximumDelay = maximumDelay
        self.minimumDelay = minimumDelay
        self.resumptionDelay = resumptionDelay
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
        defer { attempts += 1 }
        guard attempts > 0 else { return delay(within: firstDelay, random: random) }
        let span = baseDelay * (1 << min(attempts - 1, 16))
        guard span >= maximumDelay else { return delay(within: span, random: random) }
        // A server that is away for long is asked some 20 times an hour by each client, and by none more than 25 times.
        return delay(within: maximumDelay, from: maximumDelay / 2, random: random)
    }

    /// The connection was lost without a word, and the session can be resumed.
    ///
    /// - Parameters:
    ///   - lasted: How long the connection had lasted.
    ///   - random: A number from 0 up to, not including, 1.
    /// - Returns: How long to wait before the next attempt.
    package mutating func interrupted(after lasted: Duration, random: Double) -> Duration {
        if lasted >= .seconds(60) { interruptions = 0 }
        let span = min(firstDelay, resumptionDelay * (1 << min(interruptions, 16)))
        interruptions += 1
        return delay(within: span, random: random)
    }

    private func delay(within span: Duration, from least: Duration = .zero, random: Double) -> Duration {
        let fraction = random.isFinite ? min(max(random, 0), 1) : 0
        // Between the least delay and the span: cut off below, a third of all clients would come back at the same
        // moment.
        let start = max(minimumDelay, least)
        return start + max(.zero, span - start) * fraction
    }
}
