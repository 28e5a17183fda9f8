// SPDX-License-Identifier: Apache-2.0

import XMPP

/// The payload: how warm and how damp a room is.
///
/// On the wire: `<climate xmlns='urn:example:room-climate' humidity='48'>21.5</climate>`.
struct RoomClimate: StanzaPayload, Hashable {
    /// A namespace of one's own: a domain that one owns, or `urn:` with a registered name.
    static let namespace = "urn:example:room-climate"
    /// The name of the element.
    static let elementName = ElementName("climate", namespace: namespace)

    /// The temperature in degrees Celsius.
    var celsius: Double
    /// The relative humidity in percent, 0 to 100.
    var humidity: Int

    init(celsius: Double, humidity: Int) {
        self.celsius = celsius
        self.humidity = humidity
    }

    /// Reads an element; `nil` when it is another one, or when it says nothing sensible. Others wrote it: every value
    /// is looked at before it is believed.
    init?(_ element: Element) {
        guard element.name == Self.elementName,
            let celsius = Double(element.text), celsius.isFinite,
            let humidity = element["humidity"].flatMap({ Int($0) }), (0...100).contains(humidity)
        else { return nil }
        self.init(celsius: celsius, humidity: humidity)
    }

    /// The element.
    var element: Element {
        var element = Element(Self.elementName, attributes: ["humidity": String(humidity)])
        element.append(text: String(celsius))
        return element
    }
}

extension RoomClimate: CustomStringConvertible {
    var description: String { "\(celsius) °C, \(humidity) % humidity" }
}
