// SPDX-License-Identifier: Apache-2.0

extension Element {
    /// Parses one element, with white space around it at most, as it would stand inside of a client's stream.
    ///
    /// The prefix `stream` is bound. All that a stream refuses is refused here.
    ///
    /// - Parameters:
    ///   - xml: The element in UTF-8.
    ///   - defaultNamespace: The namespace of names without prefix, where the text declares no other.
    ///   - limits: How much the element may ask for.
    /// - Throws: ``XMLStreamError``; `notWellFormed` also when it is not exactly one element.
    package static func parse(
        _ xml: some Sequence<UInt8>, defaultNamespace: String = "jabber:client", limits: XMLLimits = .session
    ) throws(XMLStreamError) -> Element {
        let root = Element("stream", namespace: streamNamespace)
        guard let header = try? XMLSerializer.openTag(root, contentNamespace: defaultNamespace) else {
            throw .notWellFormed("the default namespace is not one")
        }
        let parser = XMLStreamParser()
        let opening = parser.feed(header[...], .batch)
        if let error = opening.error { throw error }
        parser.limits = limits
        let outcome = parser.feed(Array(xml)[...], .batch)
        if let error = outcome.error { throw error }
        guard case .element(let element)? = outcome.events.first, outcome.events.count == 1, parser.isBetweenElements
        else {
            throw .notWellFormed("not exactly one element")
        }
        return element
    }

    /// Parses one element out of a string; otherwise as ``parse(_:defaultNamespace:limits:)``.
    package static func parse(
        _ xml: String, defaultNamespace: String = "jabber:client", limits: XMLLimits = .session
    ) throws(XMLStreamError) -> Element {
        try parse(xml.utf8, defaultNamespace: defaultNamespace, limits: limits)
    }
}

extension Element: CustomStringConvertible {
    /// The element as XML, for people who debug: characters that XML does not allow are replaced by U+FFFD.
    ///
    /// It holds what the element holds, bodies and secrets included: not for logs.
    public var description: String {
        do {
            return try XMLSerializer.string(self, illegalCharacters: .replace)
        } catch {
            return "(element that cannot be written: \(error))"
        }
    }
}
