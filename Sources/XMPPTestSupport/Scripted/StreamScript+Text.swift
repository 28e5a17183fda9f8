// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore

extension StreamScript {
    /// Directions that speak to the test, not to the server.
    private static let notes: Set<String> = [
        "api", "config", "drop", "generate", "inspect", "keep", "loop", "port", "repeat", "setup",
        "tls-record-size",
    ]

    /// Reads a script from text. Lines beginning with `#!` are directions, all others are sent as they are, without
    /// their line breaks.
    ///
    /// - `#! prelude STAGE`: behave as an ordinary server up to `tcp`, `tls` (or `tcp-until-tls`), `sasl`, `authed`,
    ///   `bind`, `bound` or `online`; `continue STAGE` is the same later on.
    /// - `#! await TEXT`: wait until the client has sent TEXT; `{id}` in what follows is that stanza's id.
    /// - `#! raw BYTES`: send exactly these bytes; `\n`, `\r`, `\t`, `\\`, `\0` and `\xHH` are understood.
    /// - `#! split N`: what follows arrives in pieces of N bytes; `#! one-write`: the lines up to the next direction
    ///   arrive in one piece; `#! keep-newlines`: line breaks are sent from now on.
    /// - `#! features SASL: A, B`: offer these mechanisms. `#! scram normal`, `#! scram i=N`: authenticate.
    /// - `#! fin`, `#! rst`, `#! mute`, `#! sleep SECONDS`, `#! reconnect STAGE`.
    /// - `#! api`, `setup`, `config` and their like become ``notes``, as does what stands
    ///   behind a stage; a comment begins with `##`.
    ///
    /// - Throws: ``TestSupportError`` for a direction that is not understood, with the number of its line.
    public init(text: String) throws(TestSupportError) {
        self.init([])
        var reader = Reader()
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.hasPrefix("##") { continue }
            guard line.hasPrefix("#!") else {
                reader.literal(String(line), &steps)
                continue
            }
            let words = line.dropFirst(2).split(separator: " ", maxSplits: 1)
            let name = words.first.map(String.init) ?? ""
            let argument = words.dropFirst().first.map { String($0).trimmedOfXMLWhitespace } ?? ""
            reader.flush(&steps)
            if ["prelude", "continue", "reconnect"].contains(name), argument.contains(" ") {
                // What stands behind the stage says what the test has to see to: "(roster: romeo both)".
                let rest = argument.drop { $0 != " " }
                notes.append(Note(name: name, text: String(rest).trimmedOfXMLWhitespace))
            }
            if Self.notes.contains(name) {
                notes.append(Note(name: name, text: argument))
            } else if !reader.direction(name, argument, &steps) {
                throw TestSupportError("line \(index + 1): “\(line)” is not understood")
            }
        }
        reader.flush(&steps)
    }

    /// What a text has in force from one line to the next.
    private struct Reader {
        private var keepsNewlines = false
        /// The lines that go out together; `nil` when each goes out by itself.
        private var gathered: String?

        mutating func literal(_ line: String, _ steps: inout [Step]) {
            let text = keepsNewlines ? line + "\n" : line
            guard !text.isEmpty else { return }
            if gathered != nil {
                gathered? += text
            } else {
                steps.append(.send(text))
            }
        }

        /// A direction ends what is gathered.
        mutating func flush(_ steps: inout [Step]) {
            if let text = gathered, !text.isEmpty { steps.append(.send(text)) }
            gathered = nil
        }

        /// Takes a direction; `false` when it is not understood.
        mutating func direction(_ name: String, _ argument: String, _ steps: inout [Step]) -> Bool {
            switch name {
            case "prelude", "continue":
                guard let stage = Self.stage(argument) else { return false }
                steps.append(.advance(to: stage))
            case "reconnect":
                guard let stage = Self.stage(argument) else { return false }
                steps += [.reconnect, .advance(to: stage)]
            case "await": steps.append(.await(argument))
            case "raw":
                guard let bytes = Self.unescape(argument) else { return false }
                steps.append(.sendBytes(bytes))
            case "split":
                guard let size = Int(argument), size > 0 else { return false }
                steps.append(.slice(size))
            case "one-write": gathered = ""
            case "keep-newlines": keepsNewlines = true
            case "fin": steps.append(.close)
            case "rst": steps.append(.reset)
            case "mute": steps.append(.mute)
            case "sleep":
                guard let seconds = Double(argument) else { return false }
                steps.append(.pause(.milliseconds(Int64(seconds * 1_000))))
            case "features":
                steps.append(.offer(mechanisms: Self.mechanisms(argument)))
            case "scram":
                guard let iterations = argument == "normal" ? 4_096 : Self.iterations(argument) else { return false }
                steps.append(.authenticate(iterations: iterations))
            default: return false
            }
            return true
        }

        private static func stage(_ argument: String) -> Stage? {
            let word = argument.prefix { $0 != " " && $0 != "," }
            return word == "tcp-until-tls" ? .tls : Stage(rawValue: String(word))
        }

        private static func iterations(_ argument: String) -> Int? {
            argument.hasPrefix("i=") ? Int(argument.dropFirst(2)) : nil
        }

        /// The names in `SASL: A, B`: words of capitals, digits, `-` and `_` (RFC 4422 §3.1).
        private static func mechanisms(_ argument: String) -> [String] {
            argument.split { $0 == "," || $0 == " " }.map(String.init).filter { word in
                word.utf8.allSatisfy { byte in
                    (0x41...0x5A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x5F
                }
            }
        }

        private static func unescape(_ text: String) -> [UInt8]? {
            var bytes: [UInt8] = []
            var rest = Array(text.utf8)[...]
            while let byte = rest.popFirst() {
                guard byte == UInt8(ascii: "\\") else {
                    bytes.append(byte)
                    continue
                }
                switch rest.popFirst() {
                case UInt8(ascii: "n"): bytes.append(0x0A)
                case UInt8(ascii: "r"): bytes.append(0x0D)
                case UInt8(ascii: "t"): bytes.append(0x09)
                case UInt8(ascii: "0"): bytes.append(0)
                case UInt8(ascii: "\\"): bytes.append(UInt8(ascii: "\\"))
                case UInt8(ascii: "x"):
                    guard let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
                        return nil
                    }
                    bytes.append(value)
                    rest = rest.dropFirst(2)
                default: return nil
                }
            }
            return bytes
        }
    }
}
