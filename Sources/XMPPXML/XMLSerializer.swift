// SPDX-License-Identifier: Apache-2.0

/// Writes elements as XML 1.0 that every XMPP server takes.
///
/// Elements get no prefixes but declare a default namespace where it changes (RFC 6120 §4.8.5); the exceptions are
/// elements of the stream namespace inside a stream and names in the `xml` namespace. Comments, processing
/// instructions, DTDs and entities other than the predefined are never written (§11.1). Nothing recurses.
package enum XMLSerializer {
    /// The XML declaration that a stream begins with (RFC 6120 §11.5).
    package static let declaration = "<?xml version='1.0'?>"

    /// The end of a stream whose header came from ``openTag(_:contentNamespace:)``.
    package static let closeTag = "</stream:stream>"

    /// Bytes past which nothing is written, unless asked for otherwise; 8,000,000. A stanza that was read has less,
    /// escaped as it may be; but a namespace is written out wherever it changes, and a small stanza can ask for
    /// gigabytes.
    package static let maximumBytes = 8_000_000

    /// The XML of an element in UTF-8.
    ///
    /// - Parameters:
    ///   - defaultNamespace: The default namespace already in force; inside a client's stream `jabber:client`.
    ///   - isInStream: Whether the prefix `stream` is declared: elements of the stream namespace then use it.
    ///   - illegalCharacters: What happens to characters in text and attribute values that XML does not allow.
    ///   - maximumBytes: How many bytes it may have. Writing stops there, at most one value or name later.
    /// - Throws: ``XMLSerializationError``; then nothing of the element may be sent.
    package static func serialize(
        _ element: Element, defaultNamespace: String = "", isInStream: Bool = false,
        illegalCharacters: IllegalCharacterPolicy = .reject, maximumBytes: Int = Self.maximumBytes
    ) throws(XMLSerializationError) -> [UInt8] {
        var writer = XMLWriter(isInStream: isInStream, policy: illegalCharacters, maximumBytes: maximumBytes)
        try writer.write(element, defaultNamespace: defaultNamespace)
        return writer.output
    }

    /// The XML of an element as a string; otherwise as
    /// ``serialize(_:defaultNamespace:isInStream:illegalCharacters:maximumBytes:)``.
    package static func string(
        _ element: Element, defaultNamespace: String = "", isInStream: Bool = false,
        illegalCharacters: IllegalCharacterPolicy = .reject, maximumBytes: Int = Self.maximumBytes
    ) throws(XMLSerializationError) -> String {
        let bytes = try serialize(
            element, defaultNamespace: defaultNamespace, isInStream: isInStream, illegalCharacters: illegalCharacters,
            maximumBytes: maximumBytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The start tag of a stream: the element's name with the prefix `stream`, which it declares together with the
    /// default namespace of the content, then the element's attributes. Children are not written.
    ///
    /// - Throws: ``XMLSerializationError`` for names and characters that XML does not allow.
    package static func openTag(
        _ header: Element, contentNamespace: String
    ) throws(XMLSerializationError) -> [UInt8] {
        var writer = XMLWriter(isInStream: true, policy: .reject, maximumBytes: maximumBytes)
        try writer.writeOpenTag(header, contentNamespace: contentNamespace)
        return writer.output
    }
}
