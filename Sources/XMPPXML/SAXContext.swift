// SPDX-License-Identifier: Apache-2.0

internal import CLibXML2

/// One libxml2 push parser (`xmlParserCtxt`, SAX2 callbacks) and the element tree that grows from it.
///
/// It is given whole tags only. Entities are substituted (without that option libxml2 hands `&amp;` in an attribute
/// on as `&#38;`), which is safe because no document type declaration is ever read: none reaches this class, and
/// were one to, parsing would stop before the first entity is stored.
final class SAXContext {
    /// What the callbacks read and write. libxml2's user data points at it, past reference counts and exclusivity
    /// checks: a callback runs only inside ``parse(_:)``, on whose thread nobody else touches it, and it lives until
    /// `deinit`.
    private let state: UnsafeMutablePointer<SAXState>

    /// Makes a context for a stream's start.
    init() {
        SAXState.initialiseLibrary
        state = .allocate(capacity: 1)
        state.initialize(to: SAXState())
        var handler = SAXState.handler
        state.pointee.context = xmlCreatePushParserCtxt(&handler, state, nil, 0, nil)
        if state.pointee.context == nil { state.pointee.fail(.limitExceeded("no memory for a parser")) }
        xmlCtxtUseOptions(state.pointee.context, Int32(XML_PARSE_NOENT.rawValue | XML_PARSE_NONET.rawValue))
        // libxml2 decides about the encoding with the first four bytes and waits for them: a root may be shorter.
        Array("<?xml version='1.0' encoding='UTF-8'?>".utf8).withUnsafeBufferPointer(parse)
    }

    deinit {
        xmlFreeParserCtxt(state.pointee.context)
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Why parsing ended for good.
    var failure: XMLStreamError? { state.pointee.failure }

    /// Open elements, the root included.
    var depth: Int { state.pointee.builder.depth }

    /// What the start tag of the first-level element that is open said; `nil` between two.
    var head: Element? { state.pointee.builder.head }

    /// Takes the events completed.
    func takeEvents() -> [XMLStreamEvent] { state.pointee.builder.takeEvents() }

    /// Parses bytes that end with the end of a tag (`xmlParseChunk`).
    func parse(_ bytes: UnsafeBufferPointer<UInt8>) {
        var rest = bytes[...]
        while state.pointee.failure == nil, !rest.isEmpty {
            let piece = rest.prefix(Int(Int32.max))
            rest = rest.dropFirst(piece.count)
            UnsafeBufferPointer(rebasing: piece).withMemoryRebound(to: CChar.self) { chars in
                _ = xmlParseChunk(state.pointee.context, chars.baseAddress, Int32(truncatingIfNeeded: chars.count), 0)
            }
        }
    }

    /// The number of names that libxml2 has stored for this stream (`xmlDictSize`). It never shrinks.
    var dictionaryCount: Int { state.pointee.context?.pointee.dict.map { Int(xmlDictSize($0)) } ?? 0 }

    /// The bytes that these names take (`xmlDictGetUsage`).
    var dictionaryBytes: Int { state.pointee.context?.pointee.dict.map { Int(clamping: xmlDictGetUsage($0)) } ?? 0 }
}

/// What the callbacks of one parser work on.
private struct SAXState: ~Copyable {
    var builder = ElementBuilder()
    var failure: XMLStreamError?
    var context: xmlParserCtxtPtr?

    mutating func fail(_ error: XMLStreamError) {
        if failure == nil { failure = error }
    }

    /// A start tag: `attributes` has five pointers for each, `declarations` two.
    mutating func startElement(
        _ localName: UnsafePointer<xmlChar>?, _ uri: UnsafePointer<xmlChar>?,
        _ declarations: UnsafeBufferPointer<UnsafePointer<xmlChar>?>,
        _ attributes: UnsafeBufferPointer<UnsafePointer<xmlChar>?>
    ) {
        guard failure == nil else { return }
        builder.start(localName, uri, attributes) {
            // Declarations are pairs of prefix and namespace.
            for base in stride(from: 0, to: declarations.count - 1, by: 2) where declarations[base] == nil {
                return declarations[base + 1].map { String(cString: $0) } ?? ""
            }
            return ""
        }
    }

    mutating func endElement() {
        if failure == nil { builder.end() }
    }

    mutating func characters(_ bytes: UnsafeBufferPointer<UInt8>) {
        if failure == nil { builder.characters(bytes) }
    }

    mutating func report(_ error: xmlError) {
        guard error.level.rawValue >= XML_ERR_ERROR.rawValue else { return }
        switch xmlParserErrors(UInt32(bitPattern: error.code)) {
        case XML_WAR_NS_URI, XML_WAR_NS_URI_RELATIVE:
            // An odd namespace name is a namespace name all the same: names are compared as strings (XML Names §2.3).
            break
        case XML_ERR_UNDECLARED_ENTITY, XML_WAR_UNDECLARED_ENTITY:
            fail(.restrictedXML("a reference to an entity that is not predefined"))
        case XML_ERR_NO_MEMORY:
            fail(.limitExceeded("no memory to parse with"))
        default:
            // Namespace errors, which libxml2 itself would survive, are as fatal as the rest (RFC 6120 §11.3).
            fail(.notWellFormed(Self.describe(error.code)))
        }
    }

    /// Stops before any declaration is stored (RFC 6120 §11.1).
    mutating func refuse(_ what: String) {
        fail(.restrictedXML(what))
        xmlStopParser(context)
    }

    /// The state behind libxml2's user data.
    @inline(__always)
    private static func at(_ user: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<SAXState>? {
        user?.assumingMemoryBound(to: SAXState.self)
    }

    static let initialiseLibrary: Void = xmlInitParser()

    private static let onCharacters: charactersSAXFunc = { user, start, count in
        SAXState.at(user)?.pointee.characters(UnsafeBufferPointer(start: start, count: Int(count)))
    }

    /// The callbacks. A value that is only copied from: libxml2 keeps its own copy in each context.
    static var handler: xmlSAXHandler {
        var handler = xmlSAXHandler()
        handler.initialized = XML_SAX2_MAGIC
        handler.startElementNs = { user, name, _, uri, declarationCount, declarations, count, _, attributes in
            SAXState.at(user)?.pointee.startElement(
                name, uri, UnsafeBufferPointer(start: declarations, count: Int(declarationCount) * 2),
                UnsafeBufferPointer(start: attributes, count: Int(count) * 5))
        }
        handler.endElementNs = { user, _, _, _ in SAXState.at(user)?.pointee.endElement() }
        handler.characters = onCharacters
        handler.ignorableWhitespace = onCharacters
        handler.cdataBlock = onCharacters
        handler.internalSubset = { user, _, _, _ in
            SAXState.at(user)?.pointee.refuse("a document type declaration")
        }
        handler.comment = { user, _ in SAXState.at(user)?.pointee.refuse("a comment") }
        handler.processingInstruction = { user, _, _ in
            SAXState.at(user)?.pointee.refuse("a processing instruction")
        }
        handler.serror = { user, error in
            guard let error else { return }
            SAXState.at(user)?.pointee.report(error.pointee)
        }
        return handler
    }

    /// Words of ours for the usual errors: libxml2's own would carry the peer's text into logs.
    private static func describe(_ code: Int32) -> String {
        switch xmlParserErrors(UInt32(bitPattern: code)) {
        case XML_ERR_TAG_NAME_MISMATCH: "an end tag that does not match its start tag"
        case XML_ERR_ATTRIBUTE_REDEFINED, XML_NS_ERR_ATTRIBUTE_REDEFINED: "an attribute given twice"
        case XML_ERR_INVALID_CHAR, XML_ERR_INVALID_CHARREF: "a character that XML does not allow"
        case XML_ERR_MISPLACED_CDATA_END: "]]> in character data"
        case XML_NS_ERR_UNDEFINED_NAMESPACE: "a prefix that is not declared"
        case XML_NS_ERR_XML_NAMESPACE: "a declaration of a reserved prefix or namespace"
        case XML_NS_ERR_QNAME, XML_NS_ERR_COLON: "a name with a misplaced colon"
        default: "libxml2 error \(code)"
        }
    }
}
