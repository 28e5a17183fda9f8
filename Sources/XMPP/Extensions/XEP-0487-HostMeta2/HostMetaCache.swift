// SPDX-License-Identifier: Apache-2.0

internal import SocketIO

/// What domains have said of this kind, for as long as it holds: shared by the copies of a configuration.
final class HostMetaCache: Sendable {
    /// Domains that are remembered, the latest ones; 8.
    static let maximumDomains = 8

    private struct Entry {
        let domain: String
        let file: HostMeta2
        let end: Duration
    }

    private let entries = Locked<[Entry]>([])

    /// What a domain has said.
    ///
    /// - Parameters:
    ///   - domain: The domain as an A-label.
    ///   - now: The time; `nil` asks for what has lapsed too, which is better than nothing (XEP-0487 §6).
    func file(of domain: String, at now: Duration?) -> HostMeta2? {
        entries.withLock { entries in
            guard let entry = entries.first(where: { $0.domain == domain }) else { return nil }
            if let now, now >= entry.end { return nil }
            return entry.file
        }
    }

    /// Notes what a domain has said at a time.
    func note(_ file: HostMeta2, of domain: String, at now: Duration) {
        entries.withLock { entries in
            entries.removeAll { $0.domain == domain }
            entries.append(Entry(domain: domain, file: file, end: now + file.lifetime))
            entries.removeFirst(max(0, entries.count - Self.maximumDomains))
        }
    }
}
