// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
internal import XMPPCrypto
public import XMPPXML

/// The short form of what a client can do, sent along with its presence (XEP-0115).
public struct EntityCapabilities: StanzaPayload, Hashable {
    /// The namespace of the `<c/>` element.
    public static let namespace = "http://jabber.org/protocol/caps"
    /// The name of the `<c/>` element.
    public static let elementName = ElementName("c", namespace: namespace)
    /// The software that this library's presence names.
    static let softwareNode = "urn:swift-xmpp"

    /// Which software, as a URI.
    public var node: String
    /// The hash function by its registered name, such as `sha-1`.
    public var hash: String
    /// The base64 of the hash.
    public var verification: String

    /// Makes capabilities.
    public init(node: String, hash: String, verification: String) {
        self.node = node
        self.hash = hash
        self.verification = verification
    }

    /// Reads a `<c/>` element; `nil` when an attribute is missing, as in the form from before hashes (XEP-0115 §11).
    public init?(_ element: Element) {
        guard element.name == Self.elementName, let node = element["node"], let hash = element["hash"],
            let verification = element["ver"]
        else { return nil }
        self.init(node: node, hash: hash, verification: verification)
    }

    /// The `<c/>` element.
    public var element: Element {
        Element(Self.elementName, attributes: ["hash": hash, "node": node, "ver": verification])
    }

    /// The node under which the full information can be asked for (XEP-0115 §6.2).
    public var fullNode: String { "\(node)#\(verification)" }

    /// The capabilities that this library sends for its own information.
    static func advertised(_ information: DiscoveryInformation) -> EntityCapabilities {
        EntityCapabilities(
            node: softwareNode, hash: "sha-1", verification: information.verificationString(using: .sha1) ?? "")
    }
}

extension DiscoveryInformation {
    /// The base64 hash over identities, features and forms (XEP-0115 §5.1); `nil` for information that the rules call
    /// ill-formed (§5.4): an identity, a feature or a form type twice, or a form type with two values.
    func verificationString(using digest: Digest) -> String? {
        guard let input = verificationInput, let hash = try? digest.hash(Array(input.utf8)) else { return nil }
        return Base64.encode(hash)
    }

    /// What is hashed (XEP-0115 §5.1). Everything is sorted by octets (`i;octet`), not as Swift compares strings.
    var verificationInput: String? {
        var parts: [String] = []
        let names = identities.map { "\($0.category)/\($0.type)/\($0.language ?? "")/\($0.name ?? "")" }
        guard Set(names).count == names.count, Set(features).count == features.count else { return nil }
        parts += names.sortedByOctets + features.sortedByOctets
        guard let forms = formParts else { return nil }
        parts += forms
        return parts.map { $0 + "<" }.joined()
    }

    /// The forms, by their FORM_TYPE; those without one, or whose FORM_TYPE is not a hidden field, do not count.
    private var formParts: [String]? {
        var forms: [String: [String]] = [:]
        for form in extensions where form.name == DataForm.elementName {
            let fields = form.children("field", namespace: DataForm.namespace)
            guard let typeField = fields.first(where: { $0["var"] == "FORM_TYPE" }) else { continue }
            guard typeField["type"] == "hidden" else { continue }
            let types = Set(typeField.values)
            guard types.count <= 1 else { return nil }
            guard let type = types.first else { continue }
            guard forms[type] == nil else { return nil }
            let others = fields.filter { $0["var"] != "FORM_TYPE" }.map { (name: $0["var"] ?? "", values: $0.values) }
            let sorted = others.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            forms[type] = sorted.flatMap { [$0.name] + $0.values.sortedByOctets }
        }
        return forms.keys.map { $0 }.sortedByOctets.flatMap { [$0] + (forms[$0] ?? []) }
    }
}

extension Element {
    /// The values of a form's field (XEP-0004 §3.2).
    fileprivate var values: [String] {
        children("value", namespace: namespace).map(\.text)
    }
}

extension [String] {
    fileprivate var sortedByOctets: [String] {
        sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}

extension XMPPStream {
    /// The presence with this client's capabilities, so that contacts need not ask each time (XEP-0115 §4, XEP-0390
    /// §5.4).
    func withCapabilities(_ presence: Presence) -> Presence {
        var presence = presence
        let information = requestContext.information
        presence.setPayload(EntityCapabilities.advertised(information))
        if let hashes = CapabilityHashSet.advertised(information) { presence.setPayload(hashes) }
        return presence
    }

    /// What handlers of requests may know.
    var requestContext: RequestContext {
        RequestContext(
            account: account, software: configuration.software,
            clientType: configuration.clientType, features: routes.features)
    }
}
