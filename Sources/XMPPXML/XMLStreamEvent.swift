// SPDX-License-Identifier: Apache-2.0

/// What an XML stream consists of (RFC 6120 §4.2): a root that opens, first-level elements, and the root's end.
package enum XMLStreamEvent: Sendable, Equatable {
    /// The start tag of the root arrived. The element has its attributes and no children.
    ///
    /// `contentNamespace` is the default namespace that the root declares, empty when it declares none.
    case streamOpened(Element, contentNamespace: String)
    /// A whole first-level element arrived.
    case element(Element)
    /// The end tag of the root arrived.
    case streamClosed
}
