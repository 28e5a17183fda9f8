// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// When a stanza was first sent, where it was held on its way (XEP-0203).
public struct DelayedDelivery: StanzaPayload, Hashable {
    /// The name of the `<delay/>` element.
    public static let elementName = ElementName("delay", namespace: Namespace.delay)

    /// When it was sent. A claim of ``from``, not a fact.
    public var stamp: DateTime
    /// Who held it; `nil` when that is not said.
    public var from: JID?
    /// Why, for people.
    public var reason: String?

    /// Makes a delay.
    public init(stamp: DateTime, from: JID? = nil, reason: String? = nil) {
        self.stamp = stamp
        self.from = from
        self.reason = reason
    }

    /// Reads a `<delay/>` element; `nil` when its stamp is unusable: the stanza then counts as sent when it arrived.
    public init?(_ element: Element) {
        guard element.name == Self.elementName, let stamp = element["stamp"].flatMap(DateTime.init)
        else { return nil }
        self.stamp = stamp
        from = element["from"].flatMap { try? JID($0) }
        reason = element.text.isEmpty ? nil : element.text
    }

    /// The `<delay/>` element.
    public var element: Element {
        var delay = Element(Self.elementName, attributes: ["stamp": stamp.description, "from": from?.description])
        delay.append(text: reason ?? "")
        return delay
    }
}

extension Stanza {
    /// When the stanza was first sent, where it was held on its way (XEP-0203). The first usable one counts; what old
    /// servers and gateways write in its place (XEP-0091) counts where there is none.
    public var delay: DelayedDelivery? {
        if let delay = payload(DelayedDelivery.self) { return delay }
        for child in element.eachChild where child.isNamed("x", namespace: Namespace.legacyDelay) {
            if let delay = DelayedDelivery(legacy: child) { return delay }
        }
        return nil
    }

    /// When the stanza was sent, as far as is known: when ``delay`` says, if that has passed. A stamp in the future is
    /// an error or a lie (XEP-0203 §4), and would stand before everything that comes later; the stanza then counts as
    /// sent when it arrived.
    ///
    /// - Parameter arrival: When it arrived.
    public func sentAt(arrival: DateTime = .now) -> DateTime {
        delay.map { min($0.stamp, arrival) } ?? arrival
    }
}

extension DelayedDelivery {
    /// Reads an `<x/>` of XEP-0091, whose stamp is `CCYYMMDDThh:mm:ss` in UTC; `nil` when it is not.
    init?(legacy element: Element) {
        guard let text = element["stamp"], text.utf8.count == 17, text.utf8.allSatisfy({ $0 < 0x80 }) else {
            return nil
        }
        let digits = Array(text)
        let date = [digits[0..<4], digits[4..<6], digits[6..<8]].map { String($0) }.joined(separator: "-")
        guard let stamp = DateTime(date + String(digits[8...]) + "Z") else { return nil }
        self.init(
            stamp: stamp, from: element["from"].flatMap { try? JID($0) },
            reason: element.text.isEmpty ? nil : element.text)
    }
}
