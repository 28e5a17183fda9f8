// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// What it means for the user that somebody refuses: the bare condition of RFC 6120 §8.3.3 says neither that nor what
/// to do.
enum Refusal {
    /// Conditions of one who does not do what was asked (RFC 6120 §8.3.3.3, §8.3.3.19).
    private static let unwilling: Set = [
        StanzaError.Condition.serviceUnavailable.rawValue, StanzaError.Condition.featureNotImplemented.rawValue,
    ]

    private static func condition(_ error: ControlError) -> String? {
        guard error.code == .refused, let word = error.stanza?.string("condition"), unwilling.contains(word) else {
            return nil
        }
        return word
    }

    private static func replaced(_ error: ControlError, _ message: String) -> ControlError {
        var error = error
        error.message = message
        return error
    }

    /// The refusal of a question.
    ///
    /// - Parameters:
    ///   - error: What the asked one answered.
    ///   - jid: Who was asked.
    ///   - what: What the question is, such as `tell its version (XEP-0092)`.
    static func ofQuestion(_ error: ControlError, to jid: JID, _ what: String) -> ControlError {
        guard let word = condition(error) else { return error }
        let head = "\(jid) does not \(what): "
        if jid.localpart == nil, jid.isBare {
            return replaced(error, head + "the server does not support it (\(word))")
        }
        if jid.isBare {
            return replaced(
                error,
                head + "its server does not do that for an account, or does not let you see (\(word)); ask one of its "
                    + "programs, as in \(jid)/RESOURCE: jabberctl online --resources shows them")
        }
        return replaced(
            error,
            head + "the program there does not do that, or is not online (\(word)); jabberctl online --resources shows "
                + "which are")
    }

    /// The refusal of a room.
    ///
    /// - Parameters:
    ///   - error: What the room answered.
    ///   - room: The room.
    ///   - what: What it does not do, such as `keep an archive (XEP-0313)`.
    ///   - remedy: What to do instead.
    static func ofRoom(_ error: ControlError, _ room: JID, _ what: String, _ remedy: String) -> ControlError {
        guard let word = condition(error) else { return error }
        return replaced(error, "the room \(room) does not \(what): \(word); \(remedy)")
    }

    /// The refusal of the own server to do something for the account.
    ///
    /// - Parameters:
    ///   - error: What the server answered.
    ///   - server: The server.
    ///   - what: What it does not support, such as `blocking (XEP-0191)`.
    ///   - remedy: What to do instead.
    static func ofServer(_ error: ControlError, _ server: JID, _ what: String, _ remedy: String) -> ControlError {
        guard let word = condition(error) else { return error }
        return replaced(error, "your server \(server) does not support \(what): \(word); \(remedy)")
    }
}
