// SPDX-License-Identifier: Apache-2.0

import ExampleSupport

/// A table with numbered rows. The names come from a stranger: they are made printable.
func table(of cities: [String]) -> String {
    let width = max(String(cities.count).count, 2)
    let rows = cities.enumerated().map { (String($0 + 1), $1.printable(limit: 40)) }
    return ([("#", "city")] + rows).map { number, name in
        String(repeating: " ", count: width - number.count) + number + "  " + name
    }.joined(separator: "\n")
}
