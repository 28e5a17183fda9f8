// SPDX-License-Identifier: Apache-2.0

/// An object of JSON: keys and values in the order in which they were written.
public struct JSONObject: Hashable, Sendable {
    /// One key and its value.
    public struct Entry: Hashable, Sendable {
        /// The key.
        public var key: String
        /// The value.
        public var value: JSONValue
    }

    /// The entries in order; no two have the same key.
    public private(set) var entries: [Entry]

    /// Makes an object. Of a key that is there twice the last value stays, at the place of the first.
    public init(_ pairs: [(String, JSONValue)] = []) {
        entries = []
        entries.reserveCapacity(pairs.count)
        for (key, value) in pairs { self[key] = value }
    }

    /// Makes an object of the pairs that have a value: an absent key means "unknown".
    package init(present pairs: KeyValuePairs<String, JSONValue?>) {
        entries = []
        for (key, value) in pairs {
            if let value { self[key] = value }
        }
    }

    /// Takes entries over whose keys are known to differ.
    init(unique entries: [Entry]) {
        self.entries = entries
    }

    /// The keys in order.
    public var keys: [String] {
        entries.map(\.key)
    }

    /// Whether there is no entry.
    public var isEmpty: Bool {
        entries.isEmpty
    }

    /// The value of a key. Setting keeps the place of a key that exists; setting `nil` removes it.
    public subscript(_ key: String) -> JSONValue? {
        get {
            entries.first { $0.key == key }?.value
        }
        set {
            let place = entries.firstIndex { $0.key == key }
            switch (place, newValue) {
            case (let place?, let value?): entries[place].value = value
            case (let place?, nil): entries.remove(at: place)
            case (nil, let value?): entries.append(Entry(key: key, value: value))
            case (nil, nil): break
            }
        }
    }

    /// The text of a key, when it is a string.
    public func string(_ key: String) -> String? {
        self[key]?.stringValue
    }

    /// The whole number of a key, when it is one.
    public func int(_ key: String) -> Int? {
        self[key]?.intValue
    }

    /// The truth value of a key, when it is one.
    public func bool(_ key: String) -> Bool? {
        self[key]?.boolValue
    }

    /// The value at a path of keys with dots between them, such as `stanza.condition`.
    public func value(at path: String) -> JSONValue? {
        if let value = self[path] { return value }
        guard let dot = path.utf8.firstIndex(of: UInt8(ascii: ".")) else { return nil }
        return self[String(path[..<dot])]?.objectValue?.value(at: String(path[path.utf8.index(after: dot)...]))
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// An object with its keys in the written order.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(elements)
    }
}
