// SPDX-License-Identifier: Apache-2.0

internal import XMPPXML

/// Routes by the name of an element. A name is compared where it lies in what was read, and no copy of it is made.
///
/// What is looked up comes from the network, but only what the program adds is stored: nobody outside can make names
/// meet, so a cheap hash will do.
struct RouteTable<Route: Sendable>: Sendable {
    private static var placeCount: Int { 64 }

    private var places: [[(name: ElementName, route: Route)]] = Array(repeating: [], count: placeCount)

    /// Sets the route for elements with a name, in place of the one there is.
    mutating func set(_ name: ElementName, _ route: Route) {
        let place = name.cheapHash % Self.placeCount
        places[place].removeAll { $0.name == name }
        places[place].append((name, route))
    }

    /// The route for an element.
    subscript(element: Element) -> Route? {
        for entry in places[element.nameHash % Self.placeCount]
        where element.isNamed(entry.name.localName, namespace: entry.name.namespace) {
            return entry.route
        }
        return nil
    }
}
