// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// Reads the parameters of a request, and says which one is wrong.
struct Parameters: Sendable {
    let object: JSONObject

    init(_ object: JSONObject) {
        self.object = object
    }

    /// A string; `nil` when absent.
    func string(_ key: String) throws(ControlError) -> String? {
        guard let value = present(key) else { return nil }
        guard let text = value.stringValue else { throw wrong(key, "must be a string") }
        return text
    }

    /// A string that must be there and not empty.
    func required(_ key: String) throws(ControlError) -> String {
        guard let text = try string(key), !text.isEmpty else { throw wrong(key, "is missing or empty") }
        return text
    }

    /// Strings; empty when absent.
    func strings(_ key: String) throws(ControlError) -> [String] {
        guard let value = present(key) else { return [] }
        guard let strings = value.stringsValue else { throw wrong(key, "must be a list of strings") }
        return strings
    }

    /// A truth value; false when absent.
    func flag(_ key: String) throws(ControlError) -> Bool {
        guard let value = present(key) else { return false }
        guard let flag = value.boolValue else { throw wrong(key, "must be true or false") }
        return flag
    }

    /// A whole number in a range; `nil` when absent.
    func whole(_ key: String, in range: ClosedRange<Int>) throws(ControlError) -> Int? {
        guard let value = present(key) else { return nil }
        guard let number = value.intValue, range.contains(number) else {
            throw wrong(key, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// One of some words; `nil` when absent.
    func choice(_ key: String, of words: [String]) throws(ControlError) -> String? {
        guard let text = try string(key) else { return nil }
        guard words.contains(text) else { throw wrong(key, "must be one of \(words.joined(separator: ", "))") }
        return text
    }

    /// An address; `nil` when absent.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/badJID`` naming the part that is wrong (RFC 7622).
    func jid(_ key: String) throws(ControlError) -> JID? {
        guard let text = try string(key) else { return nil }
        return try Self.jid(text)
    }

    /// An address that must be there.
    func requiredJID(_ key: String) throws(ControlError) -> JID {
        guard let jid = try jid(key) else { throw wrong(key, "is missing") }
        return jid
    }

    /// A string as an address.
    static func jid(_ text: String) throws(ControlError) -> JID {
        do {
            return try JID(text)
        } catch {
            throw ControlError(error)
        }
    }

    /// A time span in seconds, above 0 and at most ten years; `nil` when absent.
    func seconds(_ key: String) throws(ControlError) -> Duration? {
        guard let value = present(key) else { return nil }
        guard let seconds = value.doubleValue, seconds > 0, seconds <= 315_360_000 else {
            throw wrong(key, "must be a number of seconds above 0")
        }
        return .seconds(seconds)
    }

    /// How long the caller waits; `nil` for as long as it takes. A little less than asked, so that the daemon's answer,
    /// which knows more, comes before the caller gives up.
    func patience() throws(ControlError) -> Duration? {
        guard let value = present("timeout") else { return nil }
        guard let seconds = value.doubleValue, seconds > 0, seconds < 1e9 else {
            throw wrong("timeout", "must be a number of seconds above 0")
        }
        return .seconds(seconds - min(0.5, seconds / 10))
    }

    /// The failure for a parameter.
    func wrong(_ key: String, _ what: String) -> ControlError {
        ControlError(.badParameters, "\"\(key)\" \(what)")
    }

    private func present(_ key: String) -> JSONValue? {
        guard let value = object[key], value != .null else { return nil }
        return value
    }
}
