// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// What people look at or listen to before they answer a field of a form, such as the picture of a CAPTCHA (XEP-0221).
/// Nothing fetches it by itself.
public struct FieldMedia: StanzaPayload, Hashable {
    /// The namespace of media.
    public static let namespace = "urn:xmpp:media-element"
    /// The name of the `<media/>` element.
    public static let elementName = ElementName("media", namespace: namespace)
    /// How many places one may be at; 20. Further ones are passed over.
    public static let maximumPlaces = 20

    /// One place where it is.
    public struct Place: Sendable, Hashable {
        /// The address as it was written, `cid:` for what came along with the form: check its scheme before it is
        /// opened.
        public var uri: String
        /// What kind of data is there, such as `image/jpeg`.
        public var type: String

        /// Makes a place.
        public init(_ uri: String, type: String) {
            self.uri = uri
            self.type = type
        }
    }

    /// How high it is to be shown, in pixels.
    public var height: Int?
    /// How wide it is to be shown, in pixels.
    public var width: Int?
    /// Where it is: the same in several kinds of data.
    public var places: [Place]

    /// Makes media.
    public init(_ places: [Place], width: Int? = nil, height: Int? = nil) {
        self.places = places
        self.width = width
        self.height = height
    }

    /// Reads a `<media/>` element; `nil` when it is at no place.
    public init?(_ element: Element) {
        guard element.name == Self.elementName else { return nil }
        let places = element.children("uri", namespace: Self.namespace).prefix(Self.maximumPlaces).compactMap { child in
            let uri = child.text.trimmedOfXMLWhitespace
            return uri.isEmpty ? nil : Place(uri, type: child["type"] ?? "")
        }
        guard !places.isEmpty else { return nil }
        self.init(Array(places), width: Self.pixels(element["width"]), height: Self.pixels(element["height"]))
    }

    private static func pixels(_ text: String?) -> Int? {
        text.flatMap { Int($0) }.flatMap { (1...65_535).contains($0) ? $0 : nil }
    }

    /// The `<media/>` element.
    public var element: Element {
        var media = Element(
            Self.elementName, attributes: ["height": height.map(String.init), "width": width.map(String.init)])
        for place in places {
            var uri = Element("uri", namespace: Self.namespace, text: place.uri)
            uri["type"] = place.type
            media.append(uri)
        }
        return media
    }
}
