// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// What somebody's clock shows (XEP-0202).
public struct EntityTime: StanzaPayload, Hashable {
    /// The namespace of requests and answers.
    public static let namespace = "urn:xmpp:time"
    /// The name of the `<time/>` element.
    public static let elementName = ElementName("time", namespace: namespace)

    /// The moment.
    public var moment: DateTime
    /// How many minutes local time is ahead of UTC; negative west of Greenwich.
    public var offsetMinutes: Int

    /// Makes a time.
    public init(_ moment: DateTime, offsetMinutes: Int = 0) {
        self.moment = moment
        self.offsetMinutes = offsetMinutes
    }

    /// Reads a `<time/>` element; `nil` when time or time zone is missing or no such thing (XEP-0082).
    public init?(_ element: Element) {
        guard element.name == Self.elementName,
            let moment = element.firstChild("utc", namespace: Self.namespace).flatMap({
                DateTime($0.text.trimmedOfXMLWhitespace)
            }),
            let offset = element.firstChild("tzo", namespace: Self.namespace).flatMap({
                Self.minutes($0.text.trimmedOfXMLWhitespace)
            })
        else { return nil }
        self.init(moment, offsetMinutes: offset)
    }

    /// The `<time/>` element.
    public var element: Element {
        var time = Element(Self.elementName)
        time.append(Element("tzo", namespace: Self.namespace, text: zone))
        time.append(Element("utc", namespace: Self.namespace, text: moment.description))
        return time
    }

    /// The time zone as `+hh:mm` or `-hh:mm`.
    public var zone: String {
        func pad(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let size = abs(offsetMinutes)
        return (offsetMinutes < 0 ? "-" : "+") + pad(size / 60) + ":" + pad(size % 60)
    }

    private static func minutes(_ zone: String) -> Int? {
        if zone == "Z" { return 0 }
        let bytes = Array(zone.utf8)
        guard bytes.count == 6, bytes[0] == UInt8(ascii: "+") || bytes[0] == UInt8(ascii: "-"),
            bytes[3] == UInt8(ascii: ":")
        else { return nil }
        let digits = [bytes[1], bytes[2], bytes[4], bytes[5]]
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let numbers = digits.map { Int($0 - 0x30) }
        let (hours, minutes) = (numbers[0] * 10 + numbers[1], numbers[2] * 10 + numbers[3])
        guard hours <= 23, minutes <= 59 else { return nil }
        return (bytes[0] == UInt8(ascii: "-") ? -1 : 1) * (hours * 60 + minutes)
    }
}

extension XMPPStream {
    /// Asks what somebody's clock shows (XEP-0202).
    ///
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``; ``XMPPError/Code/stanzaError`` when the answer names no
    ///   time.
    public func time(of jid: JID) async throws(XMPPError) -> EntityTime {
        try await request(IQ(.get, to: jid, payload: Element(EntityTime.elementName)), expecting: EntityTime.self)
    }
}

extension StanzaRoutes {
    /// Answers with the time, to those who may know that the user is there. The time zone is always UTC: another would
    /// tell where the user is (XEP-0202 §6).
    mutating func addEntityTime() {
        add(
            .get, "time", namespace: EntityTime.namespace, from: .contacts, feature: EntityTime.namespace,
            handler: .immediate { (_, _) throws(StanzaError) in EntityTime(.now).element })
    }
}
