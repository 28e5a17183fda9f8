// SPDX-License-Identifier: Apache-2.0

/// Changes one key of a settings file and leaves the rest of the text, comments included, as its owner wrote it.
enum SettingsText {
    /// The text with another value for a key of the outermost object; `nil` takes the key away.
    ///
    /// - Parameters:
    ///   - bytes: JSON5 text of an object; empty for a new file.
    ///   - key: The key.
    ///   - value: Its new value.
    /// - Returns: Text that reads as the old object with that change.
    static func set(_ key: String, to value: JSONValue?, in bytes: [UInt8]) -> [UInt8] {
        let old = (try? JSONReader.read(bytes, as: .json5))?.objectValue ?? [:]
        var wanted = old
        wanted[key] = value
        if let edited = edit(key, value, in: bytes), let read = try? JSONReader.read(edited, as: .json5),
            let object = read.objectValue, Set(object.entries) == Set(wanted.entries)
        {
            return edited
        }
        // Text that cannot be edited in place, such as one whose last entry would keep a comma too many, is written
        // anew.
        return JSONValue.object(wanted).encodedPretty()
    }

    /// The same for a key inside of objects.
    ///
    /// - Parameter path: The keys from the outermost object on. Objects that are missing are made.
    static func set(_ path: [String], to value: JSONValue?, in bytes: [UInt8]) -> [UInt8] {
        guard let first = path.first else { return bytes }
        let rest = Array(path.dropFirst())
        guard !rest.isEmpty else { return set(first, to: value, in: bytes) }
        if let found = try? JSONReader.places(of: first, in: bytes), let place = found.value,
            (try? JSONReader.read(bytes[place], as: .json5))?.objectValue != nil
        {
            let inner = set(rest, to: value, in: Array(bytes[place]))
            return Array(bytes[..<place.lowerBound] + trimmed(inner) + bytes[place.upperBound...])
        }
        guard let value else { return bytes }
        return set(first, to: .object(JSONObject([(rest[0], nested(rest.dropFirst(), value))])), in: bytes)
    }

    private static func nested(_ path: ArraySlice<String>, _ value: JSONValue) -> JSONValue {
        path.reversed().reduce(value) { .object(JSONObject([($1, $0)])) }
    }

    /// Without the line feed at the end that a document of its own has.
    private static func trimmed(_ bytes: [UInt8]) -> [UInt8] {
        bytes.last == UInt8(ascii: "\n") ? Array(bytes.dropLast()) : bytes
    }

    /// The line, from 1, in which the last key of a path of keys stands; `nil` when it is not there.
    static func line(of path: [String], in bytes: [UInt8]) -> Int? {
        var start = 0
        var place = 0
        for key in path {
            guard let found = try? JSONReader.places(of: key, in: Array(bytes[start...])), let entry = found.entry,
                let value = found.value
            else { return nil }
            place = start + entry.lowerBound
            start += value.lowerBound
        }
        return bytes[..<place].reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
    }

    private static func edit(_ key: String, _ value: JSONValue?, in bytes: [UInt8]) -> [UInt8]? {
        guard !bytes.isEmpty, let found = try? JSONReader.places(of: key, in: bytes) else { return nil }
        guard let value else { return found.entry.map { Array(bytes[..<$0.lowerBound] + bytes[$0.upperBound...]) } }
        let text = indented(value)
        if let place = found.value { return Array(bytes[..<place.lowerBound] + text + bytes[place.upperBound...]) }
        let line = Array("\n  ".utf8) + JSONValue.string(key).encoded() + Array(": ".utf8) + text + [UInt8(ascii: ",")]
        return Array(bytes[..<found.start] + line + bytes[found.start...])
    }

    private static func indented(_ value: JSONValue) -> [UInt8] {
        var bytes: [UInt8] = []
        for byte in value.encodedPretty().dropLast() {
            bytes.append(byte)
            if byte == UInt8(ascii: "\n") { bytes += Array("  ".utf8) }
        }
        return bytes
    }
}
