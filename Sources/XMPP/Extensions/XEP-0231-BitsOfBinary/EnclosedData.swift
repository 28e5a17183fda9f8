// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
internal import XMPPCrypto
public import XMPPXML

/// A small piece of data that comes along with a stanza, for what refers to it with `cid:` (XEP-0231).
public struct EnclosedData: StanzaPayload, Hashable {
    /// The namespace of such data.
    public static let namespace = "urn:xmpp:bob"
    /// The name of the `<data/>` element.
    public static let elementName = ElementName("data", namespace: namespace)
    /// How many bytes one may have; 64 KiB. XEP-0231 §2.1 recommends 8 KiB.
    public static let maximumBytes = 65_536
    /// How many may come along with one thing; 10. Further ones are passed over.
    public static let maximumCount = 10

    /// What `cid:` is followed by where something refers to it.
    public var id: String
    /// What kind of data it is, such as `image/png`; as the sender says.
    public var type: String
    /// The data. It is the sender's: what shows it has to bear anything.
    public var bytes: [UInt8]

    /// Makes a piece.
    public init(_ id: String, type: String, bytes: [UInt8]) {
        self.id = id
        self.type = type
        self.bytes = bytes
    }

    /// Reads a `<data/>` element; `nil` when it has no name or no data, or more than ``maximumBytes``.
    public init?(_ element: Element) {
        guard element.name == Self.elementName, let id = element["cid"], !id.isEmpty else { return nil }
        let text = element.text.utf8.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        guard !text.isEmpty, text.count <= Self.maximumBytes / 3 * 4 + 4,
            let bytes = Base64.decode(String(decoding: text, as: UTF8.self)), bytes.count <= Self.maximumBytes
        else { return nil }
        self.init(id, type: element["type"] ?? "", bytes: bytes)
    }

    /// The `<data/>` element.
    public var element: Element {
        var data = Element(Self.elementName, attributes: ["cid": id, "type": type])
        data.append(text: Base64.encode(bytes))
        return data
    }
}

extension RegistrationForm {
    /// What a field refers to, as far as it came along.
    public func data(of media: FieldMedia) -> EnclosedData? {
        media.places.lazy.compactMap { place in
            place.uri.hasPrefix("cid:") ? enclosed.first { $0.id == place.uri.dropFirst(4) } : nil
        }.first
    }
}
