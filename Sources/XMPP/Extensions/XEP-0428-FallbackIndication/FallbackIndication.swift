// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// Which part of a message is there only for clients that do not know an extension (XEP-0428).
public struct FallbackIndication: StanzaPayload, Hashable {
    /// The namespace of fallbacks.
    public static let namespace = "urn:xmpp:fallback:0"
    /// The name of the `<fallback/>` element.
    public static let elementName = ElementName("fallback", namespace: namespace)
    /// How many parts are read of each; 100. More are passed over.
    public static let maximumParts = 100

    /// A part of a text.
    public enum Part: Sendable, Hashable {
        /// All of it.
        case whole
        /// These characters, counted as code points (XEP-0426).
        case part(Range<Int>)
    }

    /// The namespace of the extension.
    public var feature: String?
    /// The parts of the body.
    public var body: [Part]
    /// The parts of the subject.
    public var subject: [Part]

    /// Makes an indication; without parts it means the whole body and the whole subject.
    public init(for feature: String?, body: [Part] = [], subject: [Part] = []) {
        self.feature = feature
        self.body = body
        self.subject = subject
    }

    /// Reads a `<fallback/>` element. A part that ends before it begins is left out.
    public init?(_ element: Element) {
        guard element.name == Self.elementName else { return nil }
        self.init(for: element["for"])
        for case .element(let child) in element.nodes where child.namespace == Self.namespace {
            guard let part = Self.part(child) else { continue }
            switch child.localName {
            case "body" where body.count < Self.maximumParts: body.append(part)
            case "subject" where subject.count < Self.maximumParts: subject.append(part)
            default: break
            }
        }
    }

    private static func part(_ element: Element) -> Part? {
        guard element["start"] != nil || element["end"] != nil else { return .whole }
        guard let start = element["start"].flatMap({ Int($0) }), let end = element["end"].flatMap({ Int($0) }),
            0 <= start, start <= end
        else { return nil }
        return .part(start..<end)
    }

    /// The `<fallback/>` element.
    public var element: Element {
        var element = Element(Self.elementName, attributes: ["for": feature])
        for (name, parts) in [("body", body), ("subject", subject)] {
            for part in parts {
                var child = Element(name, namespace: Self.namespace)
                if case .part(let range) = part {
                    child["start"] = String(range.lowerBound)
                    child["end"] = String(range.upperBound)
                }
                element.append(child)
            }
        }
        return element
    }

    /// Whether it means the body as a whole.
    var coversBody: Bool { body.contains(.whole) || (body.isEmpty && subject.isEmpty) }
}

extension Message {
    /// What there is to read for somebody who knows these extensions: the body without what stands in for them
    /// (XEP-0428 §2.2); `nil` when nothing is left.
    ///
    /// - Parameter features: The namespaces of the extensions that are shown in their own way.
    public func text(withoutFallbackFor features: Set<String>) -> String? {
        guard let body else { return nil }
        let fallbacks = element.children.compactMap(FallbackIndication.init).filter { fallback in
            fallback.feature.map(features.contains) ?? false
        }
        guard !fallbacks.isEmpty else { return body }
        guard !fallbacks.contains(where: \.coversBody) else { return nil }
        let scalars = body.unicodeScalars
        var kept = ""
        let ranges = fallbacks.flatMap(\.body).compactMap { if case .part(let range) = $0 { range } else { nil } }
        for (index, scalar) in scalars.enumerated() where !ranges.contains(where: { $0.contains(index) }) {
            kept.unicodeScalars.append(scalar)
        }
        return kept
    }
}
