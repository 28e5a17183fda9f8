// SPDX-License-Identifier: Apache-2.0

/// Somebody with a name and an address, as lists for people show them.
package protocol Listed {
    /// The address.
    var jid: JID { get }
    /// The name, or the address where there is none.
    var displayName: String { get }
}

extension Sequence where Element: Listed {
    /// The same in the order in which people look for somebody: by name, whatever its case, and then by address.
    package func inDisplayOrder() -> [Element] {
        map { (name: $0.displayName.lowercased(), entry: $0) }
            .sorted { ($0.name, $0.entry.jid) < ($1.name, $1.entry.jid) }
            .map(\.entry)
    }
}

extension RosterItem: Listed {}
