// SPDX-License-Identifier: Apache-2.0

/// Reads typed keys of a configuration object, and names the place of what is wrong.
struct ConfigurationReader {
    let object: JSONObject
    let place: String

    func error(_ what: String) -> ControlError {
        ControlError(.configuration, "\(place): \(what)")
    }

    func string(_ key: String) throws(ControlError) -> String? {
        guard let value = present(key) else { return nil }
        guard let string = value.stringValue else { throw error("\"\(key)\" must be a string") }
        return string
    }

    func bool(_ key: String) throws(ControlError) -> Bool? {
        guard let value = present(key) else { return nil }
        guard let bool = value.boolValue else { throw error("\"\(key)\" must be true or false") }
        return bool
    }

    func int(_ key: String, in range: ClosedRange<Int>) throws(ControlError) -> Int? {
        guard let value = present(key) else { return nil }
        guard let int = value.intValue, range.contains(int) else {
            throw error("\"\(key)\" must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return int
    }

    /// A command: a line, cut into words without a shell, or a list of words.
    func command(_ key: String) throws(ControlError) -> [String]? {
        guard let value = present(key) else { return nil }
        if let line = value.stringValue { return try CommandWords.split(line) }
        guard let words = value.stringsValue, !words.isEmpty else {
            throw error("\"\(key)\" must be a command line or a list of words")
        }
        return words
    }

    /// One of some words.
    func word<Word: RawRepresentable<String> & CaseIterable>(_ key: String) throws(ControlError) -> Word? {
        guard let text = try string(key) else { return nil }
        guard let word = Word(rawValue: text) else {
            throw error("\"\(key)\" must be \(Word.allCases.map(\.rawValue).joined(separator: " or "))")
        }
        return word
    }

    /// Fingerprints of keys: one, or a list.
    func pins(_ key: String) throws(ControlError) -> [String]? {
        guard let value = present(key) else { return nil }
        guard let texts = value.stringValue.map({ [$0] }) ?? value.stringsValue else {
            throw error("\"\(key)\" must be the fingerprint of a key, or a list of them")
        }
        do throws(ControlError) {
            return try KeyPin.list(texts)
        } catch {
            throw self.error("\"\(key)\": \(error.message)")
        }
    }

    private func present(_ key: String) -> JSONValue? {
        guard let value = object[key], value != .null else { return nil }
        return value
    }
}
