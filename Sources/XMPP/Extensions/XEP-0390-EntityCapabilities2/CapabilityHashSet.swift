// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
internal import XMPPCrypto
public import XMPPXML

/// Hashes over what a client can do, sent along with its presence (XEP-0390).
public struct CapabilityHashSet: StanzaPayload, Hashable {
    /// The namespace of the `<c/>` element.
    public static let namespace = "urn:xmpp:caps"
    /// The name of the `<c/>` element.
    public static let elementName = ElementName("c", namespace: namespace)
    /// The namespace of hashes (XEP-0300).
    static let hashes = "urn:xmpp:hashes:2"
    /// How many hashes are read; 16. More are passed over.
    public static let maximumHashes = 16

    /// One hash.
    public struct Hash: Sendable, Hashable {
        /// The hash function by its registered name, such as `sha-256`.
        public var algorithm: String
        /// The base64 of the hash.
        public var value: String

        /// Makes a hash.
        public init(algorithm: String, value: String) {
            self.algorithm = algorithm
            self.value = value
        }

        /// The node under which the information can be asked for (XEP-0390 §4.3).
        public var node: String { "\(CapabilityHashSet.namespace)#\(algorithm).\(value)" }
    }

    /// The hashes, in order.
    public var values: [Hash]

    /// Makes a set.
    public init(_ values: [Hash]) {
        self.values = values
    }

    /// Reads a `<c/>` element; `nil` when it holds no hash.
    public init?(_ element: Element) {
        guard element.name == Self.elementName else { return nil }
        values = element.children("hash", namespace: Self.hashes).prefix(Self.maximumHashes).compactMap { hash in
            guard let algorithm = hash["algo"], !hash.text.isEmpty else { return nil }
            return Hash(algorithm: algorithm, value: hash.text.trimmedOfXMLWhitespace)
        }
        guard !values.isEmpty else { return nil }
    }

    /// The `<c/>` element.
    public var element: Element {
        var element = Element(Self.elementName)
        for hash in values {
            var child = Element("hash", namespace: Self.hashes, text: hash.value)
            child["algo"] = hash.algorithm
            element.append(child)
        }
        return element
    }

    /// The hashes that this library sends for its own information.
    static func advertised(_ information: DiscoveryInformation) -> CapabilityHashSet? {
        information.capabilityHash(using: .sha256).map {
            CapabilityHashSet([Hash(algorithm: "sha-256", value: $0)])
        }
    }
}

extension DiscoveryInformation {
    /// The base64 hash of XEP-0390 §4; `nil` for information that the rules call ill-formed.
    func capabilityHash(using digest: Digest) -> String? {
        guard let input = capabilityHashInput, let hash = try? digest.hash(input) else { return nil }
        return Base64.encode(hash)
    }

    /// What is hashed (XEP-0390 §4.1): strings end in the octet 0x1F, groups of them in 0x1E, forms in 0x1D, and each
    /// of the three parts in 0x1C. Everything is sorted by octets.
    var capabilityHashInput: [UInt8]? {
        var forms: [[UInt8]] = []
        for element in extensions {
            guard let form = DataForm(element), form.columns.isEmpty, form.rows.isEmpty, form.type != nil else {
                return nil
            }
            let fields = form.fields.map { field in
                Self.part(field.name ?? "") + field.values.map(Self.part).sortedByOctets.joined() + [0x1E]
            }
            forms.append(fields.sortedByOctets.joined() + [0x1D])
        }
        let people = identities.map { identity in
            [identity.category, identity.type, identity.language ?? "", identity.name ?? ""].flatMap(Self.part) + [0x1E]
        }
        return [features.map(Self.part), people, forms].flatMap { $0.sortedByOctets.joined() + [0x1C] }
    }

    private static func part(_ text: String) -> [UInt8] { Array(text.utf8) + [0x1F] }
}

extension [[UInt8]] {
    fileprivate var sortedByOctets: [[UInt8]] {
        sorted { $0.lexicographicallyPrecedes($1) }
    }
}
