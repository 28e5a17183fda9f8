// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPXML

/// A stanza as it is kept: its XML in UTF-8.
enum StoredStanza {
    /// What may be read back: more than any server takes, since the names of namespaces are written out anew.
    private static let limits = XMLLimits(
        maximumStanzaBytes: XMLSerializer.maximumBytes, maximumDepth: 128, maximumAttributes: 1_024,
        maximumElements: 100_000, maximumNamespaceBytes: XMLSerializer.maximumBytes)

    /// The bytes of a stanza; what XML cannot hold is replaced, as it is on the wire.
    ///
    /// - Throws: `StorageError` with `unstorable`, also for a stanza that could not be read back.
    static func bytes(_ element: Element, file: String) throws(StorageError) -> [UInt8] {
        let bytes: [UInt8]
        do {
            bytes = try XMLSerializer.serialize(
                element, defaultNamespace: Namespace.client, isInStream: true, illegalCharacters: .replace)
        } catch {
            throw StorageError(.unstorable, file: file, "a stanza cannot be written into \(file): \(error)")
        }
        var elements = limits.maximumElements
        guard fits(element, levels: limits.maximumDepth, &elements) else {
            throw StorageError(.unstorable, file: file, "a stanza is too deep or too wide to be read back from \(file)")
        }
        return bytes
    }

    /// The bytes of a message to be read later. Of one that cannot be kept as it is, that is what RFC 6121 §5.2 says of
    /// a message: who it is from and to, its texts, and no extensions. Somebody else chooses what is in it, and it must
    /// not be lost for that.
    static func bytes(_ message: Message, file: String) throws(StorageError) -> [UInt8] {
        do {
            return try bytes(message.element, file: file)
        } catch {
            guard error.code == .unstorable else { throw error }
            return try bytes(message.withoutExtensions, file: file)
        }
    }

    /// Whether an element stays within ``limits``, seen from where it is nested.
    private static func fits(_ element: Element, levels: Int, _ elements: inout Int) -> Bool {
        elements -= 1
        // What is written needs a declaration for each namespace: two for an attribute at most, and one for the
        // element.
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

extension Message {
    /// Its addresses, kind, id and language, and the texts that RFC 6121 §5.2 knows.
    fileprivate var withoutExtensions: Element {
        var plain = Element("message", namespace: Namespace.client)
        for name in ["from", "to", "type", "id"] { plain[name] = element[name] }
        plain.language = element.language
        for child in element.eachChild where child.isIn(Namespace.client) {
            guard ["subject", "body", "thread"].contains(child.localName) else { continue }
            var text = Element(child.localName, namespace: Namespace.client, text: child.text)
            text.language = child.language
            plain.append(text)
        }
        return plain
    }
}
