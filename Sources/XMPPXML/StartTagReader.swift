// SPDX-License-Identifier: Apache-2.0

/// Reads out of one start tag, however long it is, what a ``PassedOverElement`` says; in bounded memory.
///
/// It is given a tag that ``StreamFramer`` has framed, and asks another one where names and values begin and end.
struct StartTagReader {
    /// The longest reference kept, in bytes: `#x10FFFF` with zeros before it.
    private static let maximumReferenceBytes = 32

    /// Whether the tag has ended.
    private(set) var isDone = false

    private var framer = StreamFramer()
    /// The start tag of the root, whose declarations hold here too.
    private let root: [UInt8]
    private var name = Text()
    private var attribute = Text()
    private var value = Text()
    private var reference: [UInt8] = []
    /// The values of the attributes that are of interest, by their names as they are written.
    private var values: [String: String] = [:]

    /// Bytes up to ``PassedOverElement/maximumValueBytes``.
    private struct Text {
        private var bytes: [UInt8] = []
        private var isTooLong = false

        /// `nil` of one that is too long.
        var string: String? { isTooLong ? nil : String(decoding: bytes, as: UTF8.self) }

        mutating func append(_ more: some Collection<UInt8>) {
            if bytes.count + more.count > PassedOverElement.maximumValueBytes {
                isTooLong = true
            } else {
                bytes += more
            }
        }
    }

    /// Makes a reader for a tag within a root.
    ///
    /// - Parameter root: The start tag of the root.
    init(root: [UInt8]) {
        self.root = root
        framer.state = .between
        framer.depth = 1
    }

    /// Takes the next byte of the tag, the `<` being the first.
    mutating func take(_ byte: UInt8) {
        guard !isDone else { return }
        let before = framer.state
        guard (try? framer.step(byte, at: 0, Self.limits)) != nil else {
            isDone = true
            return
        }
        switch (before, framer.state) {
        case (_, .startName):
            name.append([byte])
        case (_, .attributeName):
            if before != .attributeName { attribute = Text() }
            attribute.append([byte])
        case (.beforeValue, .value):
            value = Text()
        case (.value, .value):
            // White space of any kind is a space in an attribute (XML §3.3.3).
            value.append([StreamFramer.isSpace(byte) ? 0x20 : byte])
        case (.value, .reference):
            reference = []
        case (_, .entityName), (_, .characterReference):
            if reference.count < Self.maximumReferenceBytes { reference.append(byte) }
        case (.entityName, .value), (.characterReference, .value):
            value.append(Self.character(reference))
        case (.value, .afterValue):
            noteAttribute()
        case (_, .text), (_, .between):
            isDone = true
        default:
            break
        }
    }

    private static let limits = XMLLimits(
        maximumStanzaBytes: .max, maximumDepth: .max, maximumAttributes: .max, maximumElements: .max,
        maximumNameBytes: .max)

    private mutating func noteAttribute() {
        guard let name = attribute.string, let value = value.string else { return }
        switch name {
        case "from", "id", "type", declaration: values[name] = value
        default: break
        }
    }

    /// The attribute that would declare the namespace of the element.
    private var declaration: String { prefix.map { "xmlns:\($0)" } ?? "xmlns" }

    private var prefix: Substring? {
        guard let name = name.string, let colon = name.unicodeScalars.firstIndex(of: ":") else { return nil }
        return name[..<colon]
    }

    /// What the tag has said so far.
    var element: PassedOverElement {
        let local = name.string.map { text in prefix.map { String(text.dropFirst($0.count + 1)) } ?? text } ?? ""
        return PassedOverElement(
            ElementName(local, namespace: values[declaration] ?? inherited ?? ""), from: values["from"],
            id: values["id"], type: values["type"])
    }

    /// The namespace that the root declares for the element.
    private var inherited: String? {
        guard !root.isEmpty else { return nil }
        // The root's tag is read in search of the same declaration.
        var reader = StartTagReader(root: [])
        let wanted = declaration
        for byte in root {
            reader.take(byte)
            if reader.attribute.string == wanted, case .afterValue = reader.framer.state { return reader.value.string }
        }
        return nil
    }

    /// The character that a reference stands for, in UTF-8; nothing for none that XML knows (XML §4.1, §4.6).
    private static func character(_ reference: [UInt8]) -> [UInt8] {
        let text = String(decoding: reference, as: UTF8.self)
        switch text {
        case "amp": return [UInt8(ascii: "&")]
        case "lt": return [UInt8(ascii: "<")]
        case "gt": return [UInt8(ascii: ">")]
        case "quot": return [UInt8(ascii: "\"")]
        case "apos": return [UInt8(ascii: "'")]
        default: break
        }
        guard text.hasPrefix("#") else { return [] }
        let number = text.hasPrefix("#x") ? UInt32(text.dropFirst(2), radix: 16) : UInt32(text.dropFirst())
        return number.flatMap(Unicode.Scalar.init).map { Array(String($0).utf8) } ?? []
    }
}
