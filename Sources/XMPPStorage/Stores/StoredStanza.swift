// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPXML

/// A stanza as it is kept: its XML in UTF-8.
enum StoredStanza {
    /// What may be read back: more than any server takes, since the names of namespaces are written out anew.
    private static let limits = XMLLimits(
        maximumStanzaBytes: 8_000_000, maximumDepth: 128, maximumAttributes: 1_024, maximumElements: 100_000)

    /// The bytes of a stanza; what XML cannot hold is replaced, as it is on the wire.
    ///
    /// - Throws: `StorageError` also for a stanza that could not be read back.
    static func bytes(_ element: Element, file: String) throws(StorageError) -> [UInt8] {
        let bytes: [UInt8]
        do {
            bytes = try XMLSerializer.serialize(
                element, defaultNamespace: Namespace.client, isInStream: true, illegalCharacters: .replace)
        } catch {
            throw StorageError(.other, file: file, "a stanza cannot be written into \(file): \(error)")
        }
        var elements = limits.maximumElements
        guard bytes.count <= limits.maximumStanzaBytes, fits(element, levels: limits.maximumDepth, &elements) else {
            throw StorageError(.other, file: file, "a stanza is too large or too deep to be read back from \(file)")
        }
        return bytes
    }

    /// Whether an element stays within ``limits``, seen from where it is nested.
    private static func fits(_ element: Element, levels: Int, _ elements: inout Int) -> Bool {
        elements -= 1
        // What is written needs a declaration for each namespace: two for an attribute at most, and one for the element.
        guard levels > 0, elements >= 0, 2 * element.attributes.count + 1 <= limits.maximumAttributes else {
            return false
        }
        return element.children.allSatisfy { fits($0, levels: levels - 1, &elements) }
    }

    /// The stanza that these bytes are.
    static func element(_ bytes: [UInt8], file: String) throws(StorageError) -> Element {
        do {
            return try Element.parse(bytes, defaultNamespace: Namespace.client, limits: limits)
        } catch {
            throw StorageError(.damaged, file: file, "\(file) is damaged: a stanza in it is none (\(error))")
        }
    }

    /// The message that these bytes are.
    static func message(_ bytes: [UInt8], file: String) throws(StorageError) -> Message {
        let element = try element(bytes, file: file)
        do {
            return try Message(element)
        } catch {
            throw StorageError(.damaged, file: file, "\(file) is damaged: a message in it is none (\(error))")
        }
    }

    /// The address that a text is.
    static func jid(_ text: String?, file: String) throws(StorageError) -> JID {
        do {
            return try JID(text ?? "")
        } catch {
            throw StorageError(.damaged, file: file, "\(file) is damaged: an address in it is none")
        }
    }
}
