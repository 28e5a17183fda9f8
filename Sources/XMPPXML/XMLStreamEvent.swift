// SPDX-License-Identifier: Apache-2.0

/// What an XML stream consists of (RFC 6120 §4.2): a root that opens, first-level elements, and the root's end.
package enum XMLStreamEvent: Sendable, Equatable {
    /// The start tag of the root arrived. The element has its attributes and no children.
    ///
    /// `contentNamespace` is the default namespace that the root declares, empty when it declares none.
    case streamOpened(Element, contentNamespace: String)
    /// A whole first-level element arrived.
    case element(Element)
    /// The end of a first-level element arrived that had passed a limit and was not read.
    indirect case passedOver(PassedOverElement)
    /// The end tag of the root arrived.
    case streamClosed
}

/// What is known of a first-level element that was not read: what its start tag said, as far as that is of a sensible
/// length.
package struct PassedOverElement: Sendable, Hashable {
    /// The longest attribute that is kept, in bytes: no address is longer (RFC 7622 §3.1).
    package static let maximumValueBytes = 3_071

    /// Its name; empty when that was too long.
    package var name: ElementName
    /// The attribute `from`; `nil` when there was none, or a longer one.
    package var from: String?
    /// The attribute `id`; `nil` when there was none, or a longer one.
    package var id: String?
    /// The attribute `type`; `nil` when there was none, or a longer one.
    package var type: String?
    /// How many bytes it had.
    package var bytes: Int

    /// Makes one.
    package init(_ name: ElementName, from: String? = nil, id: String? = nil, type: String? = nil, bytes: Int = 0) {
        self.name = name
        self.from = from
        self.id = id
        self.type = type
        self.bytes = bytes
    }

    /// What is known of an element that has been begun.
    init(head: Element) {
        func value(_ name: String) -> String? {
            head[name].flatMap { $0.utf8.count <= Self.maximumValueBytes ? $0 : nil }
        }
        self.init(head.name, from: value("from"), id: value("id"), type: value("type"))
    }
}
