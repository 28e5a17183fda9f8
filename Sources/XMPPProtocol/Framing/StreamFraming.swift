// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
package import XMPPXML

/// How a stream is written, for the transport below.
package enum StreamFraming: Sendable, Hashable {
    /// One XML document whose root stays open (RFC 6120 §4.2).
    case document
    /// Each first-level element is a message and a document of its own; `<open/>` and `<close/>` stand for the root's
    /// tags (RFC 7395 §3.3).
    case messages

    /// The beginning of a stream.
    ///
    /// - Returns: `nil` when an attribute holds what XML does not allow.
    package func opening(_ header: StreamHeader) -> [UInt8]? {
        var root =
            self == .document
            ? Element("stream", namespace: Namespace.streams, attributes: ["version": "1.0"])
            : Element("open", namespace: Namespace.framing, attributes: ["version": "1.0"])
        root["to"] = header.to
        root["from"] = header.from
        root.language = header.language
        return try? opening(root)
    }

    /// The beginning of a stream, from its root: the element `stream` for a document, the element `open` for messages.
    package func opening(_ root: Element) throws(XMLSerializationError) -> [UInt8] {
        switch self {
        case .document:
            try Array(XMLSerializer.declaration.utf8) + XMLSerializer.openTag(root, contentNamespace: Namespace.client)
        case .messages:
            try XMLSerializer.serialize(root)
        }
    }

    /// A first-level element.
    ///
    /// - Parameters:
    ///   - element: The element.
    ///   - illegalCharacters: What happens to characters that XML does not allow.
    /// - Throws: ``XMLSerializationError``; then nothing of it may be sent.
    package func serialize(
        _ element: Element, illegalCharacters: IllegalCharacterPolicy = .reject
    ) throws(XMLSerializationError) -> [UInt8] {
        switch self {
        case .document:
            try XMLSerializer.serialize(
                element, defaultNamespace: Namespace.client, isInStream: true, illegalCharacters: illegalCharacters)
        case .messages:
            try XMLSerializer.serialize(element, illegalCharacters: illegalCharacters)
        }
    }

    /// The end of a stream.
    package var closing: [UInt8] {
        switch self {
        case .document: Array(XMLSerializer.closeTag.utf8)
        case .messages: Array("<close xmlns='\(Namespace.framing)'/>".utf8)
        }
    }
}
