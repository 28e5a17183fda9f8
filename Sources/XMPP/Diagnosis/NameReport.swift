// SPDX-License-Identifier: Apache-2.0

/// What name servers say about a domain, and whether it is signed: every question that has to do with a login.
public struct NameReport: Sendable, Hashable {
    /// One question and what became of it.
    public struct Answer: Sendable, Hashable {
        /// What was asked for.
        public enum RecordType: String, Sendable, Hashable, CaseIterable {
            /// Where a service is (RFC 2782).
            case service = "SRV"
            /// IPv4 addresses.
            case ipv4 = "A"
            /// IPv6 addresses.
            case ipv6 = "AAAA"
            /// What a server's certificate has to be (RFC 6698).
            case key = "TLSA"
        }

        /// What DNSSEC says of an answer (RFC 4035 §4.3).
        public enum Validation: String, Sendable, Hashable, CaseIterable {
            /// It is signed, and so is that there is nothing more.
            case secure
            /// Nobody has signed it, or this machine cannot tell.
            case insecure
            /// It ought to be signed and is not, or not rightly.
            case bogus
            /// There was no usable answer.
            case failed
        }

        /// The name that was asked about.
        public var name: String
        /// What was asked for.
        public var type: RecordType
        /// What DNSSEC says of the answer.
        public var validation: Validation
        /// The records as in a zone file; empty when there are none. ``NameReport/maximumRecords`` at most.
        public var records: [String]
        /// Why there is no answer, or why it is not to be believed; `nil` otherwise.
        public var reason: String?
        /// How long the answer took.
        public var duration: Duration

        /// Whether name servers said that there is nothing.
        public var isAbsent: Bool { records.isEmpty && reason == nil }
    }

    /// Records told of one answer at most; 32.
    public static let maximumRecords = 32

    /// Whether this machine has the keys that signatures begin at; without them nothing is
    /// ``Answer/Validation/secure``.
    public var canVerify: Bool
    /// The answers, in the order in which the questions follow from each other.
    public var answers: [Answer]
}
