// SPDX-License-Identifier: Apache-2.0

/// The kind of a failure as scripts see it in `error.code`. New ones may appear; none changes its meaning.
public struct ControlErrorCode: RawRepresentable, Hashable, Sendable {
    /// The word, such as `auth-refused`.
    public var rawValue: String

    /// Makes a code of its word.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// One line of the table: the word, the exit code it gives, and whether trying again later may help.
    package struct Row: Sendable {
        /// The code.
        package let code: ControlErrorCode
        /// The exit code of a command that fails with it.
        package let exit: ExitCode
        /// Whether the same command may succeed later without a change.
        package let retry: Bool
        /// What it means.
        package let meaning: String

        init(_ code: ControlErrorCode, _ exit: ExitCode, retry: Bool = false, _ meaning: String) {
            self.code = code
            self.exit = exit
            self.retry = retry
            self.meaning = meaning
        }
    }

    /// The line of the table for this code; an unknown one counts as an internal error.
    package var row: Row {
        Self.table.first { $0.code == self } ?? Row(self, .internalError, "unknown error")
    }

    /// The exit code of a command that fails with this code.
    public var exit: ExitCode {
        row.exit
    }

    /// The number of the JSON-RPC error object: the reserved ones where they fit, -32000 otherwise.
    package var number: Int64 {
        switch self {
        case .badFrame: -32700
        case .badRequest: -32600
        case .unknownMethod: -32601
        case .badParameters: -32602
        case .internalError: -32603
        default: -32000
        }
    }
}

extension ControlErrorCode {
    private static func word(_ word: String) -> ControlErrorCode { ControlErrorCode(rawValue: word) }

    /// The other side refused: a bounce or an error stanza.
    public static let refused = word("refused")
    /// The account is not connected.
    public static let notConnected = word("not-connected")
    /// No daemon runs at the asked socket.
    public static let daemonNotRunning = word("daemon-not-running")
    /// The daemon has as many clients as it takes: the tool tries again.
    public static let busy = word("busy")
    /// The daemon is about to end: the tool tries again, and finds the next one or none.
    public static let daemonEnding = word("daemon-ending")
    /// The daemon ended without a word, as when it is killed.
    public static let daemonEnded = word("daemon-ended")
    /// The daemon's program was not found.
    public static let daemonNotFound = word("daemon-not-found")
    /// No account with this name.
    public static let accountNotFound = word("account-not-found")
    /// Not in the contact list.
    public static let contactNotFound = word("contact-not-found")
    /// No message or request with this name.
    public static let notFound = word("not-found")
    /// The time given with `--timeout` is over.
    public static let timedOut = word("timed-out")
    /// The asked output version is no longer spoken.
    public static let apiTooOld = word("api-too-old")
    /// The asked output version is not yet spoken.
    public static let apiTooNew = word("api-too-new")
    /// Wrong usage of the command.
    public static let usage = word("usage")
    /// An address is no JID.
    public static let badJID = word("bad-jid")
    /// Input that is not what it should be.
    public static let badData = word("bad-data")
    /// An input file is missing.
    public static let fileMissing = word("file-missing")
    /// The host name does not exist.
    public static let hostNotFound = word("host-not-found")
    /// Nothing listens, or every target failed.
    public static let serviceUnavailable = word("service-unavailable")
    /// A fault of this program.
    public static let internalError = word("internal")
    /// Reading or writing failed.
    public static let inputOutput = word("io")
    /// A failure that passes.
    public static let temporary = word("temporary")
    /// The connection was lost.
    public static let connectionLost = word("connection-lost")
    /// The peer broke the protocol, or ended the stream with an error.
    public static let protocolFailure = word("protocol")
    /// The stream was taken over by another session with the same resource.
    public static let conflict = word("conflict")
    /// TLS failed.
    public static let tlsFailed = word("tls-failed")
    /// The server offers no TLS.
    public static let tlsRequired = word("tls-required")
    /// The certificate does not prove the domain, has expired or is not trusted.
    public static let certificate = word("certificate")
    /// The channel binding does not match: somebody is in the middle.
    public static let channelBinding = word("channel-binding")
    /// The password or the account was refused.
    public static let authRefused = word("auth-refused")
    /// No mechanism that both sides accept.
    public static let noMechanism = word("no-mechanism")
    /// No password was found; the tool may ask for one and try again.
    public static let passwordNeeded = word("password-needed")
    /// The configuration is wrong or missing.
    public static let configuration = word("configuration")
    /// A file with a secret may be read by others.
    public static let permissions = word("permissions")
    /// Interrupted by SIGINT.
    public static let interrupted = word("interrupted")
    /// Ended by SIGTERM or SIGHUP.
    public static let terminated = word("terminated")
    /// The request was cancelled by the one who made it.
    public static let cancelled = word("cancelled")
    /// A line of the control protocol is not JSON or too long.
    public static let badFrame = word("bad-frame")
    /// A line of the control protocol is JSON but no request.
    public static let badRequest = word("bad-request")
    /// The daemon has no such method.
    public static let unknownMethod = word("unknown-method")
    /// A parameter is missing or of the wrong kind.
    public static let badParameters = word("bad-parameters")

    /// Every code once.
    package static let table: [Row] = [
        Row(.refused, .refused, "the other side refused"),
        Row(.notConnected, .notRunning, retry: true, "the account is not connected"),
        Row(.daemonNotRunning, .notRunning, "no daemon runs there"),
        Row(.busy, .temporary, retry: true, "the daemon has too many clients"),
        Row(.daemonEnding, .temporary, retry: true, "the daemon is about to end"),
        Row(.daemonEnded, .temporary, retry: true, "the daemon ended before it answered"),
        Row(.daemonNotFound, .notRunning, "the program jabberctld was not found"),
        Row(.accountNotFound, .notFound, "no such account"),
        Row(.contactNotFound, .notFound, "no such contact"),
        Row(.notFound, .notFound, "no such thing"),
        Row(.timedOut, .timedOut, retry: true, "timed out waiting"),
        Row(.apiTooOld, .apiTooOld, "the asked output version is no longer spoken"),
        Row(.apiTooNew, .apiTooNew, "the asked output version is not yet spoken"),
        Row(.usage, .usage, "wrong usage"),
        Row(.badJID, .badData, "an address is no JID"),
        Row(.badData, .badData, "bad input data"),
        Row(.fileMissing, .noInput, "an input file is missing"),
        Row(.hostNotFound, .hostNotFound, retry: true, "the host name does not exist"),
        Row(.serviceUnavailable, .unavailable, retry: true, "nothing listens, or every target failed"),
        Row(.internalError, .internalError, "a fault of this program"),
        Row(.inputOutput, .inputOutput, "reading or writing failed"),
        Row(.temporary, .temporary, retry: true, "a failure that passes"),
        Row(.connectionLost, .temporary, retry: true, "the connection was lost"),
        Row(.protocolFailure, .protocolFailure, "the peer broke the protocol"),
        Row(.conflict, .protocolFailure, "another session took the resource over"),
        Row(.tlsFailed, .protocolFailure, "TLS failed"),
        Row(.tlsRequired, .protocolFailure, "the server offers no TLS"),
        Row(.certificate, .protocolFailure, "the certificate is not accepted"),
        Row(.channelBinding, .protocolFailure, "the channel binding does not match"),
        Row(.authRefused, .authenticationRefused, "authentication refused"),
        Row(.noMechanism, .authenticationRefused, "no mechanism that both sides accept"),
        Row(.passwordNeeded, .configuration, "no password was found"),
        Row(.configuration, .configuration, "the configuration is wrong or missing"),
        Row(.permissions, .configuration, "a file with a secret may be read by others"),
        Row(.interrupted, .interrupted, "interrupted"),
        Row(.terminated, .terminated, "terminated"),
        Row(.cancelled, .interrupted, "cancelled"),
        Row(.badFrame, .badData, "a control line is not JSON or too long"),
        Row(.badRequest, .badData, "a control line is no request"),
        Row(.unknownMethod, .internalError, "the daemon has no such method"),
        Row(.badParameters, .usage, "a parameter is missing or of the wrong kind"),
    ]
}
