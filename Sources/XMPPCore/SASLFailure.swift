// SPDX-License-Identifier: Apache-2.0

public import XMPPXML

/// Why the server refused an authentication (RFC 6120 §6.5).
public struct SASLFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The defined condition; an open vocabulary.
    public struct Condition: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The element's local name, such as `not-authorized`.
        public var rawValue: String

        /// Names a condition.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The element's local name.
        public var description: String { rawValue }

        /// The client gave up.
        public static let aborted = Self(rawValue: "aborted")
        /// The account is disabled.
        public static let accountDisabled = Self(rawValue: "account-disabled")
        /// The credentials have expired.
        public static let credentialsExpired = Self(rawValue: "credentials-expired")
        /// The mechanism needs TLS.
        public static let encryptionRequired = Self(rawValue: "encryption-required")
        /// The data was not base64.
        public static let incorrectEncoding = Self(rawValue: "incorrect-encoding")
        /// The authorisation identity cannot be used.
        public static let invalidAuthzid = Self(rawValue: "invalid-authzid")
        /// The mechanism is not offered.
        public static let invalidMechanism = Self(rawValue: "invalid-mechanism")
        /// The request was malformed.
        public static let malformedRequest = Self(rawValue: "malformed-request")
        /// The mechanism is weaker than the server's policy allows.
        public static let mechanismTooWeak = Self(rawValue: "mechanism-too-weak")
        /// The credentials are wrong.
        public static let notAuthorized = Self(rawValue: "not-authorized")
        /// A temporary failure of the server.
        public static let temporaryAuthFailure = Self(rawValue: "temporary-auth-failure")
    }

    /// The defined condition; `not-authorized` when the server names none (RFC 6120 §6.5.10 is its general case).
    public var condition: Condition
    /// A text for people, as the server wrote it: never parse it, never print it raw.
    public var text: String?

    /// Makes a failure.
    public init(_ condition: Condition, text: String? = nil) {
        self.condition = condition
        self.text = text
    }

    /// Reads a `<failure/>` element of either profile: that of XEP-0388 takes its conditions from RFC 6120 too.
    public init(_ element: Element) {
        condition = .notAuthorized
        var found = false
        for child in element.children {
            if child.localName == "text", child.namespace == element.namespace || child.namespace == Namespace.sasl {
                text = text ?? child.text
            } else if !found, child.namespace == Namespace.sasl {
                condition = Condition(rawValue: child.localName)
                found = true
            }
        }
    }

    /// The condition, and the text when there is one. The text is foreign: print it only sanitised.
    public var description: String {
        text.map { "\(condition): \($0)" } ?? condition.rawValue
    }
}
