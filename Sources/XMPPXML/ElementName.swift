// SPDX-License-Identifier: Apache-2.0

/// The name of an element: namespace URI and local name, two fields that are never joined into one string.
public struct ElementName: Hashable, Sendable, CustomStringConvertible {
    /// The namespace URI; empty when the element is in no namespace.
    public var namespace: String
    /// The name without prefix.
    public var localName: String

    /// Makes a name.
    public init(_ localName: String, namespace: String) {
        self.namespace = namespace
        self.localName = localName
    }

    /// Made of the lengths alone, so that it costs nothing. A peer can make names meet: it is for tables that only the
    /// program fills.
    package var cheapHash: Int { localName.utf8.count &+ 8 &* namespace.utf8.count }

    /// The name in Clark notation, `{namespace}localName`.
    public var description: String { "{\(namespace)}\(localName)" }
}
