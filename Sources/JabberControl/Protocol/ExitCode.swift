// SPDX-License-Identifier: Apache-2.0

/// How the command ends: what a script sees in `$?`. The numbers from 64 on are those of `sysexits.h`.
public struct ExitCode: RawRepresentable, Hashable, Sendable {
    /// The number, 0 to 255.
    public var rawValue: Int32

    /// Makes a code of its number.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    private init(_ rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// 0: done.
    public static let done = ExitCode(0)
    /// 1: the answer is "no".
    public static let answerIsNo = ExitCode(1)
    /// 2: refused by the other side.
    public static let refused = ExitCode(2)
    /// 3: the daemon was asked for and does not run, or the account is not connected.
    public static let notRunning = ExitCode(3)
    /// 4: no such account, contact, room or request.
    public static let notFound = ExitCode(4)
    /// 5: timed out waiting.
    public static let timedOut = ExitCode(5)
    /// 20: the asked output version is too old.
    public static let apiTooOld = ExitCode(20)
    /// 21: the asked output version is too new.
    public static let apiTooNew = ExitCode(21)
    /// 64: wrong usage.
    public static let usage = ExitCode(64)
    /// 65: bad input data.
    public static let badData = ExitCode(65)
    /// 66: an input file is missing.
    public static let noInput = ExitCode(66)
    /// 68: the host was not found.
    public static let hostNotFound = ExitCode(68)
    /// 69: the service is not available.
    public static let unavailable = ExitCode(69)
    /// 70: an internal error.
    public static let internalError = ExitCode(70)
    /// 74: an input or output error.
    public static let inputOutput = ExitCode(74)
    /// 75: a temporary failure.
    public static let temporary = ExitCode(75)
    /// 76: a failure of the protocol, of TLS or of the certificate.
    public static let protocolFailure = ExitCode(76)
    /// 77: authentication refused.
    public static let authenticationRefused = ExitCode(77)
    /// 78: a configuration error, or file permissions too open.
    public static let configuration = ExitCode(78)
    /// 130: interrupted by SIGINT.
    public static let interrupted = ExitCode(130)
    /// 143: ended by SIGTERM.
    public static let terminated = ExitCode(143)

    /// Every code with its meaning, in order: the table of the manual.
    package static let all: [(code: ExitCode, meaning: String)] = [
        (.done, "done; for send, every recipient reached the level asked with --until"),
        (.answerIsNo, "the answer is \"no\" (with --quiet or --exit-code)"),
        (.refused, "refused by the other side"),
        (.notRunning, "daemon asked for and not running, or account not connected"),
        (.notFound, "no such account, contact, room or request"),
        (.timedOut, "timed out waiting"),
        (.apiTooOld, "asked output version too old"),
        (.apiTooNew, "asked output version too new"),
        (.usage, "wrong usage"),
        (.badData, "bad input data, such as an invalid JID"),
        (.noInput, "input file missing"),
        (.hostNotFound, "host not found"),
        (.unavailable, "service unavailable: nothing listens, all targets failed"),
        (.internalError, "internal error"),
        (
            .inputOutput,
            "input or output error, such as a closed output; what was sent by then is sent, and send tells how far"
        ),
        (.temporary, "temporary failure, try again"),
        (.protocolFailure, "protocol or TLS failure, certificate or channel binding mismatch"),
        (.authenticationRefused, "authentication refused"),
        (.configuration, "configuration error, or file permissions too open"),
        (.interrupted, "interrupted"),
        (.terminated, "terminated"),
    ]

    /// Whether this is one of the table's: any other program ends with what it likes.
    package var isKnown: Bool { Self.all.contains { $0.code == self } }

    /// Which of two outcomes decides the code of a command: a failure before success, then the larger number.
    package func worse(_ other: ExitCode) -> ExitCode {
        rawValue >= other.rawValue ? self : other
    }
}
