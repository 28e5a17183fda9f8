// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
package import XMPPXML

/// How XMPP carries a SASL exchange.
package enum SASLProfile: Sendable, Equatable {
    /// As RFC 6120 §6 has it: a new stream follows, and everything else is negotiated there.
    case classic
    /// As XEP-0388 has it, with what is asked for in the same breath.
    case extensible(InlineRequest)

    /// The namespace of the exchange's elements.
    package var namespace: String {
        switch self {
        case .classic: Namespace.sasl
        case .extensible: Namespace.sasl2
        }
    }

    /// The element that begins an exchange, with the initial response where the mechanism has one.
    ///
    /// - Parameters:
    ///   - mechanism: Which mechanism it is.
    ///   - initial: The initial response.
    ///   - wishes: What goes with this attempt and no other; only the profile of XEP-0388 has room for it.
    func opening(_ mechanism: SASLMechanismName, initial: [UInt8]?, wishes: [Element] = []) -> Element {
        switch self {
        case .classic:
            var auth = Element("auth", namespace: namespace, attributes: ["mechanism": mechanism.rawValue])
            auth.append(text: SASLPayload.encodeInitialResponse(initial) ?? "")
            return auth
        case .extensible(let request):
            var authenticate = Element(
                "authenticate", namespace: namespace, attributes: ["mechanism": mechanism.rawValue])
            // XEP-0388 §2.2: what is empty is an empty element, what is not there is none.
            if let initial {
                authenticate.append(
                    Element("initial-response", namespace: namespace, text: SASLPayload.encode(initial)))
            }
            authenticate.append(contentsOf: request.elements + wishes)
            return authenticate
        }
    }

    /// The additional data of a `<success/>`; `nil` when there are none.
    ///
    /// - Throws: ``SASLError/notBase64`` and ``SASLError/challengeTooLong(maximum:)``.
    func additionalData(of success: Element) throws(SASLError) -> [UInt8]? {
        switch self {
        case .classic:
            return try SASLPayload.decodeAdditionalData(success.text)
        case .extensible:
            guard let data = success.firstChild("additional-data", namespace: namespace) else { return nil }
            return try SASLPayload.decode(data.text.trimmedOfXMLWhitespace)
        }
    }

    /// Whether an element may have child elements: a challenge is text alone, and so is the success of the first
    /// profile (RFC 6120 A.4).
    func allowsChildren(in element: Element) -> Bool {
        switch self {
        case .classic: element.localName == "failure"
        case .extensible: element.localName != "challenge"
        }
    }
}

/// What a client asks for together with its authentication (XEP-0388 §2.3).
package struct InlineRequest: Sendable, Equatable {
    /// Which program asks.
    package var userAgent: UserAgent?
    /// `<resume/>` for the session of an earlier connection (XEP-0198 §9.2).
    package var resume: Element?
    /// `<bind/>` for a new one (XEP-0386 §3.2).
    package var bind: Element?
    /// The configuration that is relied on, as the server names it (XEP-0509).
    package var configVersion: Element?

    /// Makes a request.
    package init(userAgent: UserAgent? = nil, resume: Element? = nil, bind: Element? = nil) {
        self.userAgent = userAgent
        self.resume = resume
        self.bind = bind
    }

    /// The elements for `<authenticate/>`.
    var elements: [Element] { [userAgent?.element, resume, bind, configVersion].compactMap { $0 } }
}

/// The program that logs in, as the server gets to know it (XEP-0388 §2.3).
package struct UserAgent: Sendable, Hashable {
    /// A UUID of version 4 that stays the same for this installation and account, and nobody else has.
    package var id: String
    /// The name of the program.
    package var software: String?
    /// The name of the device; it is shown to the user among their sessions.
    package var device: String?

    /// Makes one.
    package init(id: String, software: String? = nil, device: String? = nil) {
        self.id = id
        self.software = software
        self.device = device
    }

    /// `<user-agent/>`.
    var element: Element {
        var element = Element("user-agent", namespace: Namespace.sasl2, attributes: ["id": id])
        if let software { element.append(Element("software", namespace: Namespace.sasl2, text: software)) }
        if let device { element.append(Element("device", namespace: Namespace.sasl2, text: device)) }
        return element
    }
}
