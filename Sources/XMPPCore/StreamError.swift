// SPDX-License-Identifier: Apache-2.0

public import XMPPXML

/// Why a stream was ended (RFC 6120 §4.9). It cannot be recovered from: the stream is closed after it.
public struct StreamError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The defined condition (RFC 6120 §4.9.3); an open vocabulary.
    public struct Condition: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The element's local name, such as `policy-violation`.
        public var rawValue: String

        /// Names a condition.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The element's local name.
        public var description: String { rawValue }
    }

    /// The defined condition.
    public var condition: Condition
    /// A text for people, as the other side wrote it: never parse it, never print it raw.
    public var text: String?
    /// The character data of the condition, used by `see-other-host` (RFC 6120 §4.9.3.19).
    public var conditionText: String?
    /// An element that refines the condition (RFC 6120 §4.9.4).
    public var applicationCondition: Element?

    /// Makes an error.
    public init(_ condition: Condition, text: String? = nil, applicationCondition: Element? = nil) {
        self.condition = condition
        self.text = text
        self.applicationCondition = applicationCondition
    }

    /// Reads a `<stream:error/>` element; without a condition it is `undefined-condition` (RFC 6120 §4.9.3.21).
    public init(_ element: Element) {
        condition = .undefinedCondition
        for child in element.children {
            if child.namespace != Namespace.streamErrors {
                applicationCondition = applicationCondition ?? child
            } else if child.localName == "text" {
                text = text ?? child.text
            } else if condition == .undefinedCondition {
                condition = Condition(rawValue: child.localName)
                conditionText = child.text.isEmpty ? nil : child.text
            }
        }
    }

    /// The `<stream:error/>` element.
    public var element: Element {
        var error = Element("error", namespace: Namespace.streams)
        error.append(Element(condition.rawValue, namespace: Namespace.streamErrors, text: conditionText ?? ""))
        if let text { error.append(Element("text", namespace: Namespace.streamErrors, text: text)) }
        if let applicationCondition { error.append(applicationCondition) }
        return error
    }

    /// The condition, and the text when there is one. The text is foreign: print it only sanitised.
    public var description: String {
        text.map { "\(condition): \($0)" } ?? condition.rawValue
    }
}

extension StreamError.Condition {
    /// XML that cannot be processed.
    public static let badFormat = Self(rawValue: "bad-format")
    /// A namespace prefix that is not supported.
    public static let badNamespacePrefix = Self(rawValue: "bad-namespace-prefix")
    /// Another session took this one's resource; do not reconnect by yourself.
    public static let conflict = Self(rawValue: "conflict")
    /// No traffic for too long.
    public static let connectionTimeout = Self(rawValue: "connection-timeout")
    /// The server no longer serves this domain.
    public static let hostGone = Self(rawValue: "host-gone")
    /// The server does not serve this domain.
    public static let hostUnknown = Self(rawValue: "host-unknown")
    /// A stanza lacked an address.
    public static let improperAddressing = Self(rawValue: "improper-addressing")
    /// The server failed.
    public static let internalServerError = Self(rawValue: "internal-server-error")
    /// A `from` is not the authorised address.
    public static let invalidFrom = Self(rawValue: "invalid-from")
    /// The stream or content namespace is wrong.
    public static let invalidNamespace = Self(rawValue: "invalid-namespace")
    /// XML that does not fit its schema.
    public static let invalidXML = Self(rawValue: "invalid-xml")
    /// Data before authentication.
    public static let notAuthorized = Self(rawValue: "not-authorized")
    /// XML that is not well-formed.
    public static let notWellFormed = Self(rawValue: "not-well-formed")
    /// A local policy was violated.
    public static let policyViolation = Self(rawValue: "policy-violation")
    /// A remote server could not be reached.
    public static let remoteConnectionFailed = Self(rawValue: "remote-connection-failed")
    /// The stream must be opened anew.
    public static let reset = Self(rawValue: "reset")
    /// The server is too busy.
    public static let resourceConstraint = Self(rawValue: "resource-constraint")
    /// Comment, processing instruction, DTD or entity reference.
    public static let restrictedXML = Self(rawValue: "restricted-xml")
    /// Connect to another host.
    public static let seeOtherHost = Self(rawValue: "see-other-host")
    /// The server is shutting down.
    public static let systemShutdown = Self(rawValue: "system-shutdown")
    /// None of the others.
    public static let undefinedCondition = Self(rawValue: "undefined-condition")
    /// Not UTF-8.
    public static let unsupportedEncoding = Self(rawValue: "unsupported-encoding")
    /// A feature that is required here is not supported there.
    public static let unsupportedFeature = Self(rawValue: "unsupported-feature")
    /// A first-level element that is not supported.
    public static let unsupportedStanzaType = Self(rawValue: "unsupported-stanza-type")
    /// The stream's version is not supported.
    public static let unsupportedVersion = Self(rawValue: "unsupported-version")
}
