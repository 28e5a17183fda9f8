// SPDX-License-Identifier: Apache-2.0

/// The XML declaration that may begin a stream (XML §2.8, RFC 6120 §11.5).
///
/// It is read here and never reaches libxml2, which would obey a foreign encoding and let XML 1.1 pass.
enum XMLDeclaration {
    /// Checks what stands between `<?xml` and `?>`.
    ///
    /// - Throws: `unsupportedVersion` unless the version is 1.0, `unsupportedEncoding` for any encoding but UTF-8
    ///   (RFC 6120 §11.6), `notWellFormed` when it is no declaration.
    static func check(_ bytes: [UInt8]) throws(XMLStreamError) {
        var rest = bytes[...]
        guard let first = try pseudoAttribute(&rest), first.name == "version" else {
            throw .notWellFormed("the XML declaration names no version")
        }
        guard first.value == "1.0" else { throw .unsupportedVersion("the stream is not XML 1.0") }
        var next = try pseudoAttribute(&rest)
        if let encoding = next, encoding.name == "encoding" {
            guard encoding.value.lowercased() == "utf-8" else {
                throw .unsupportedEncoding("the XML declaration names an encoding other than UTF-8")
            }
            next = try pseudoAttribute(&rest)
        }
        // Standalone says nothing without a DTD: either value is taken.
        if let standalone = next, standalone.name == "standalone", standalone.value == "yes" || standalone.value == "no"
        {
            next = try pseudoAttribute(&rest)
        }
        guard next == nil else { throw malformed }
    }

    private static var malformed: XMLStreamError { .notWellFormed("the XML declaration is malformed") }

    /// Takes `name="value"` with the white space before it; `nil` when only white space is left.
    private static func pseudoAttribute(
        _ rest: inout ArraySlice<UInt8>
    ) throws(XMLStreamError) -> (name: String, value: String)? {
        let before = rest.count
        skipSpace(&rest)
        guard !rest.isEmpty else { return nil }
        guard rest.count < before else { throw malformed }
        let name = rest.prefix { StreamFramer.isName($0) }
        rest = rest.dropFirst(name.count)
        skipSpace(&rest)
        guard rest.popFirst() == UInt8(ascii: "=") else { throw malformed }
        skipSpace(&rest)
        guard let quote = rest.popFirst(), quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\"") else {
            throw malformed
        }
        let value = rest.prefix { $0 != quote }
        rest = rest.dropFirst(value.count)
        guard rest.popFirst() == quote else { throw malformed }
        return (String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
    }

    private static func skipSpace(_ rest: inout ArraySlice<UInt8>) {
        rest = rest.drop { StreamFramer.isSpace($0) }
    }
}
