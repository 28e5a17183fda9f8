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

    /// The name in Clark notation, `{namespace}localName`.
    public var description: String { "{\(namespace)}\(localName)" }
}
