// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// Which part of a message is there only for clients that do not know an extension (XEP-0428).
public struct FallbackIndication: StanzaPayload, Hashable {
    /// The namespace of fallbacks.
    public static let namespace = "urn:xmpp:fallback:0"
    /// The name of the `<fallback/>` element.
    public static let elementName = ElementName("fallback", namespace: namespace)
    /// How many parts are read of each, and how many of all the indications of a message together are left out of its
    /// text;
    /// 100. More are passed over.
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

    /// The parts of a message's body that stand in for extensions: in order, none empty, none touching another, and
    /// made of ``maximumParts`` at most however many indications there are; `nil` when it is the whole body.
    static func parts(of message: Element, standingInFor features: Set<String>) -> [Range<Int>]? {
        var found: [Range<Int>] = []
        for case .element(let child) in message.nodes where child.name == elementName {
            guard found.count < maximumParts else { break }
            guard let feature = child["for"], features.contains(feature), let fallback = FallbackIndication(child)
            else {
                continue
            }
            guard !fallback.coversBody else { return nil }
            for case .part(let range) in fallback.body.prefix(maximumParts - found.count) where !range.isEmpty {
                found.append(range)
            }
        }
        var merged: [Range<Int>] = []
        for range in found.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, range.lowerBound <= last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        return merged
    }
}

extension Message {
    /// What there is to read for somebody who knows these extensions: the body without what stands in for them
    /// (XEP-0428 §2.2); `nil` when nothing is left.
    ///
    /// - Parameter features: The namespaces of the extensions that are shown in their own way.
    public func text(withoutFallbackFor features: Set<String>) -> String? {
        guard let body else { return nil }
        guard let parts = FallbackIndication.parts(of: element, standingInFor: features) else { return nil }
        guard !parts.isEmpty else { return body }
        var kept = ""
        var rest = parts[...]
        for (index, scalar) in body.unicodeScalars.enumerated() {
            if let part = rest.first, part.upperBound <= index { rest.removeFirst() }
            guard rest.first?.contains(index) != true else { continue }
            kept.unicodeScalars.append(scalar)
        }
        return kept.isEmpty ? nil : kept
    }
}
