// SPDX-License-Identifier: Apache-2.0

/// Something that a hostile server sends to a client which has done nothing wrong.
enum Flood: String, CaseIterable, Sendable {
    /// Messages that somebody could have sent.
    case messages
    /// Presence of people who are not in the roster, each from somebody else.
    case presences
    /// The same, each with other capabilities (XEP-0115).
    case capabilities
    /// Requests for subscription, each from somebody else.
    case subscriptions
    /// Nothing but white space.
    case whitespace
    /// Elements of which each has another name.
    case names
    /// Stanzas of 19,000 elements, each with another name in one namespace that is as long as it may be.
    case namespaces
    /// One stanza that is far too long.
    case stanza
    /// The same for a client that has met such a stanza before.
    case oversized
    /// Elements within elements.
    case depth
    /// One element with very many attributes.
    case attributes
    /// One stanza with very many children.
    case elements
    /// A stream header that does not end.
    case header
    /// Stanzas full of namespaces, prefixes and CDATA sections.
    case prefixes
    /// Presence of people who are in the roster, all 10,000 of them.
    case buddies
    /// Messages for the daemon, which is asked for its status all the while.
    case status
    /// Not what is sent, but sessions that begin and end, in good order and not.
    case churn

    /// What must become of the session.
    enum Expectation: String, Sendable {
        /// All of it arrives, in order, and the session goes on.
        case delivered
        /// The client ends the stream as soon as a limit is passed (RFC 6120 §4.9.3.14).
        case refused
    }

    var expectation: Expectation {
        switch self {
        case .messages, .presences, .capabilities, .subscriptions, .whitespace, .names, .namespaces, .prefixes,
            .buddies, .status, .churn, .oversized:
            .delivered
        case .stanza, .depth, .attributes, .elements, .header: .refused
        }
    }

    /// How many pieces there are: stanzas, or KiB of white space, or whatever the one stanza consists of.
    var count: Int {
        switch self {
        case .messages, .capabilities, .subscriptions, .depth, .attributes, .status: 10_000
        case .buddies: 20_000
        case .prefixes: 500_000
        case .churn: 1_000
        case .presences, .elements: 100_000
        case .whitespace: 100 * 1_024
        case .names: 2_000_000
        case .namespaces: 100
        case .stanza, .oversized: 10 * 1_024
        case .header: 1_000_000
        }
    }

    /// Whether the application hears of each piece.
    var isVisible: Bool {
        switch self {
        case .messages, .presences, .capabilities, .subscriptions, .buddies: true
        // Of all pieces once.
        case .oversized: false
        case .whitespace, .names, .namespaces, .prefixes, .stanza, .depth, .attributes, .elements, .header, .status,
            .churn:
            false
        }
    }

    /// How much the client's memory may grow at most, in KiB.
    var maximumGrowth: Int {
        switch self {
        case .messages, .buddies, .status: 64 * 1_024
        case .presences, .capabilities, .subscriptions, .names, .namespaces: 16 * 1_024
        case .prefixes: 5 * 1_024
        case .churn: 2 * 1_024
        case .whitespace: 1_024
        case .stanza, .oversized, .depth, .attributes, .elements, .header: 8 * 1_024
        }
    }

    /// How many pieces are sent when all is divided; a limit that is to be passed stays as it is.
    func count(dividedBy divisor: Int) -> Int {
        isOneStanza ? count : max(1, count / max(1, divisor))
    }

    /// Whether all pieces are one stanza, or one header: nothing may come in between, and it is to be past a limit.
    var isOneStanza: Bool { expectation == .refused || self == .oversized }

    /// How many events the application hears of.
    func events(dividedBy divisor: Int) -> Int {
        self == .oversized ? 1 : isVisible ? count(dividedBy: divisor) : 0
    }

    /// What comes before the pieces.
    var opening: String {
        switch self {
        case .stanza, .oversized, .depth, .elements: "<message from='mallory@evil.example/x'><body>"
        case .attributes: "<message from='mallory@evil.example/x'"
        case .header: "<?xml version='1.0'?><stream:stream version='1.0'"
        case .messages, .presences, .capabilities, .subscriptions, .whitespace, .names, .namespaces, .prefixes,
            .buddies,
            .status, .churn:
            ""
        }
    }

    /// What comes behind them.
    private var closing: String {
        self == .oversized ? "</body></message>" + (1...10).map(Self.mark).joined() : ""
    }

    private static let kibibyte = String(repeating: "x", count: 1_024)
    private static let longNamespace = "urn:" + String(repeating: "x", count: 4_092)
    private static let blank = String(repeating: " ", count: 1_024)

    /// One of the pieces.
    func piece(_ number: Int) -> String {
        switch self {
        case .messages, .status:
            "<message from='mallory@evil.example/x' type='chat'><body>\(number)</body></message>"
        case .presences:
            "<presence from='stranger\(number)@evil.example/x'><show>away</show><status>Hello there</status></presence>"
        case .capabilities:
            "<presence from='juliet@example.net/r\(number)'><c xmlns='http://jabber.org/protocol/caps' hash='sha-1' "
                + "node='http://evil.example/\(number)' ver='v\(number)'/></presence>"
        case .subscriptions:
            "<presence type='subscribe' from='stranger\(number)@evil.example'/>"
        case .whitespace: Self.blank
        case .names:
            "<message from='mallory@evil.example/x'><n\(number) xmlns='urn:example:names'/></message>"
        case .namespaces:
            "<message from='mallory@evil.example/x' xmlns:p='\(Self.longNamespace)'>"
                + (0..<19_000).map { "<p:n\($0)/>" }.joined() + "</message>"
        case .stanza, .oversized: Self.kibibyte
        case .depth: "<a>"
        case .attributes: " a\(number)='\(number)'"
        case .elements: "<a/>"
        case .header: " a\(number)='\(number)'"
        case .prefixes:
            "<message from='mallory@evil.example/x'><p:a xmlns:p='urn:example:\(number % 7)' p:b='c'><d xmlns='urn:example:d'>"
                + "<p:e/><![CDATA[<&\(number)]]></d></p:a></message>"
        case .buddies: "<presence from='b\(number / 2)@example.net/\(number % 2 == 0 ? "r1" : "r2")'/>"
        case .churn: ""
        }
    }

    /// The pieces and what comes before them, in portions of some ten thousand bytes.
    func portions(dividedBy divisor: Int) -> some IteratorProtocol<[UInt8]> & Sendable {
        Portions(flood: self, total: count(dividedBy: divisor))
    }

    /// The text of the message that says how far the flood has come, in tenths.
    static func mark(_ tenth: Int) -> String {
        "<message from='juliet@example.net/balcony' id='mark'><body>\(tenth)</body></message>"
    }

    private struct Portions: IteratorProtocol, Sendable {
        let flood: Flood
        let total: Int
        var taken = 0

        mutating func next() -> [UInt8]? {
            guard taken < total else { return nil }
            var text = taken == 0 ? flood.opening : ""
            while taken < total, text.utf8.count < 16_384 {
                text += flood.piece(taken)
                taken += 1
                let tenths = taken * 10 / total
                if !flood.isOneStanza, tenths > (taken - 1) * 10 / total { text += Flood.mark(tenths) }
            }
            if taken == total { text += flood.closing }
            return Array(text.utf8)
        }
    }
}
