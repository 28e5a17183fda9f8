// SPDX-License-Identifier: Apache-2.0

/// What a server has of the XMPP Compliance Suites 2023 (XEP-0479), as far as a client can see.
public struct ComplianceReport: Sendable, Hashable {
    /// What a server is for (XEP-0479 §2).
    public enum Category: String, Sendable, Hashable, CaseIterable {
        /// What every server has.
        case core
        /// What clients in a browser need.
        case web
        /// Instant messaging.
        case im
        /// Phones.
        case mobile
        /// Calls with sound and picture.
        case calls
    }

    /// How much of it.
    public enum Level: String, Sendable, Hashable, CaseIterable {
        /// The necessary.
        case core
        /// More.
        case advanced
    }

    /// Whether something is there.
    public enum Finding: String, Sendable, Hashable, CaseIterable {
        /// It is.
        case met
        /// It is not.
        case missing
        /// A client cannot see it, or the server did not answer.
        case unseen
    }

    /// One specification that a category asks for.
    public struct Item: Sendable, Hashable {
        /// The category that asks for it.
        public var category: Category
        /// The least level that does.
        public var level: Level
        /// What it is for, as XEP-0479 calls it.
        public var feature: String
        /// The specification, such as `XEP-0280`.
        public var specification: String
        /// Whether it is there.
        public var finding: Finding
    }

    /// One category at one level.
    public struct Row: Sendable, Hashable {
        /// The category.
        public var category: Category
        /// The level.
        public var level: Level
        /// `met` when everything is there that can be seen, `missing` when something is not, `unseen` when nothing of
        /// it can be seen.
        public var finding: Finding
        /// What is missing, that of the category ``Category/core`` included, which every other one asks for.
        public var missing: [Item]
        /// What cannot be seen.
        public var unseen: [Item]
    }

    /// Every specification of every category.
    public let items: [Item]

    /// Judges by what was seen.
    public init(_ evidence: ComplianceEvidence) {
        items = ComplianceRequirement.all.map { requirement in
            Item(
                category: requirement.category, level: requirement.level, feature: requirement.feature,
                specification: requirement.specification, finding: requirement.finding(evidence))
        }
    }

    /// The categories, each at both levels.
    public var rows: [Row] {
        Category.allCases.flatMap { category in Level.allCases.map { row(category, $0) } }
    }

    private func row(_ category: Category, _ level: Level) -> Row {
        let own = items.filter { $0.category == category && ($0.level == .core || level == .advanced) }
        let basis = items.filter { $0.category == .core && ($0.level == .core || level == .advanced) }
        let all = category == .core ? own : own + basis
        let missing = all.filter { $0.finding == .missing }
        let unseen = all.filter { $0.finding == .unseen }
        let isBlind = own.allSatisfy { $0.finding == .unseen }
        return Row(
            category: category, level: level, finding: !missing.isEmpty ? .missing : isBlind ? .unseen : .met,
            missing: missing, unseen: unseen)
    }
}

/// What was seen of a server, for ``ComplianceReport``. What was not asked, or not answered, is `nil`.
public struct ComplianceEvidence: Sendable, Hashable {
    /// Whether the channel is protected by TLS.
    public var usesTLS: Bool?
    /// Whether a login could begin with direct TLS.
    public var hasDirectTLS: Bool?
    /// Whether a login could begin over a WebSocket.
    public var hasWebSocket: Bool?
    /// Whether the domain publishes a place for BOSH.
    public var hasBOSH: Bool?
    /// What the server offered, before the login and after it.
    public var offers: [StreamFeatures] = []
    /// What the server says of itself.
    public var server: DiscoveryInformation?
    /// What the account says of itself.
    public var account: DiscoveryInformation?
    /// What the services of the server say of themselves; `nil` when it did not list them.
    public var services: [DiscoveryInformation]?
    /// Whether the roster was answered (RFC 6121 §2).
    public var answersRoster: Bool?
    /// Whether the account's vCard was answered (XEP-0054), be it with nothing.
    public var answersVCard: Bool?
    /// Whether the account's private storage was answered (XEP-0049).
    public var answersPrivateStorage: Bool?

    /// Makes evidence of nothing.
    public init() {}
}
