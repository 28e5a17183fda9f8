// SPDX-License-Identifier: Apache-2.0

public import XMPPXML

/// Why a stanza was not processed (RFC 6120 §8.3).
public struct StanzaError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What the sender should do about it (RFC 6120 §8.3.2).
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Retry after providing credentials.
        case auth
        /// Do not retry.
        case cancel
        /// Proceed; this was only a warning.
        case `continue`
        /// Retry after changing the data.
        case modify
        /// Retry after waiting.
        case wait
    }

    /// The defined condition (RFC 6120 §8.3.3); an open vocabulary.
    public struct Condition: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The element's local name, such as `item-not-found`.
        public var rawValue: String

        /// Names a condition.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The element's local name.
        public var description: String { rawValue }
    }

    /// What the sender should do about it.
    public var kind: Kind
    /// The defined condition.
    public var condition: Condition
    /// A text for people, as the other side wrote it: never parse it, never print it raw.
    public var text: String?
    /// The entity that found the error, where it says so.
    public var by: String?
    /// An element that refines the condition (RFC 6120 §8.3.4).
    public var applicationCondition: Element?

    /// Makes an error.
    public init(_ condition: Condition, kind: Kind, text: String? = nil, applicationCondition: Element? = nil) {
        self.condition = condition
        self.kind = kind
        self.text = text
        self.applicationCondition = applicationCondition
    }

    /// Reads an `<error/>` element. Whatever it lacks is filled in, so that an odd error is still an error: no
    /// condition means `undefined-condition`, no usable type means `cancel` (RFC 6120 §8.3.2).
    public init(_ element: Element) {
        kind = element["type"].flatMap(Kind.init) ?? .cancel
        condition = .undefinedCondition
        by = element["by"]
        for child in element.children {
            if child.namespace != Namespace.stanzaErrors {
                applicationCondition = applicationCondition ?? child
            } else if child.localName == "text" {
                text = text ?? child.text
            } else if condition == .undefinedCondition {
                condition = Condition(rawValue: child.localName)
            }
        }
    }

    /// The `<error/>` element.
    public var element: Element {
        var error = Element("error", namespace: Namespace.client, attributes: ["type": kind.rawValue, "by": by])
        error.append(Element(condition.rawValue, namespace: Namespace.stanzaErrors))
        if let text { error.append(Element("text", namespace: Namespace.stanzaErrors, text: text)) }
        if let applicationCondition { error.append(applicationCondition) }
        return error
    }

    /// The condition, and the text when there is one. The text is foreign: print it only sanitised.
    public var description: String {
        text.map { "\(condition): \($0)" } ?? condition.rawValue
    }
}

extension StanzaError.Condition {
    /// The stanza is not well-formed for its purpose.
    public static let badRequest = Self(rawValue: "bad-request")
    /// Something with that name exists already.
    public static let conflict = Self(rawValue: "conflict")
    /// The feature is not there.
    public static let featureNotImplemented = Self(rawValue: "feature-not-implemented")
    /// The sender may not do this.
    public static let forbidden = Self(rawValue: "forbidden")
    /// The addressee is at another address now.
    public static let gone = Self(rawValue: "gone")
    /// The server failed.
    public static let internalServerError = Self(rawValue: "internal-server-error")
    /// The item does not exist.
    public static let itemNotFound = Self(rawValue: "item-not-found")
    /// An address is not a JID.
    public static let jidMalformed = Self(rawValue: "jid-malformed")
    /// The request is understood and not acceptable.
    public static let notAcceptable = Self(rawValue: "not-acceptable")
    /// Nobody may do this.
    public static let notAllowed = Self(rawValue: "not-allowed")
    /// The sender must authenticate first.
    public static let notAuthorized = Self(rawValue: "not-authorized")
    /// A local policy was violated.
    public static let policyViolation = Self(rawValue: "policy-violation")
    /// The recipient is temporarily unavailable.
    public static let recipientUnavailable = Self(rawValue: "recipient-unavailable")
    /// The request should go elsewhere.
    public static let redirect = Self(rawValue: "redirect")
    /// Registration is required.
    public static let registrationRequired = Self(rawValue: "registration-required")
    /// The remote server does not exist.
    public static let remoteServerNotFound = Self(rawValue: "remote-server-not-found")
    /// The remote server did not answer in time.
    public static let remoteServerTimeout = Self(rawValue: "remote-server-timeout")
    /// The server is too busy.
    public static let resourceConstraint = Self(rawValue: "resource-constraint")
    /// The service is not offered.
    public static let serviceUnavailable = Self(rawValue: "service-unavailable")
    /// A presence subscription is required.
    public static let subscriptionRequired = Self(rawValue: "subscription-required")
    /// None of the others.
    public static let undefinedCondition = Self(rawValue: "undefined-condition")
    /// The request came at the wrong time.
    public static let unexpectedRequest = Self(rawValue: "unexpected-request")
}

extension StanzaError {
    /// The answer to a request for something that is not offered.
    public static let serviceUnavailable = StanzaError(.serviceUnavailable, kind: .cancel)
    /// The answer to a request that is not well-formed for its purpose.
    public static let badRequest = StanzaError(.badRequest, kind: .modify)
}
