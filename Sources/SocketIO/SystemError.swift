// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A call to the operating system that failed.
package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The error number (`errno`).
    package var code: Int32
    /// The function that failed, as its manual page names it.
    package var function: String
    /// What it was called for, an address or a path; empty when there is nothing to add.
    package var subject: String

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: The error number.
    ///   - function: The function that failed.
    ///   - subject: What it was called for.
    package init(_ code: Int32, _ function: String, _ subject: String = "") {
        self.code = code
        self.function = function
        self.subject = subject
    }

    /// Makes an error of the current `errno`. Call it directly after the function that failed.
    static func last(_ function: String, _ subject: String = "") -> SystemError {
        SystemError(errno, function, subject)
    }

    /// What went wrong, without the function's name: "connection refused", for a sentence of the caller's.
    package var reason: String {
        switch code {
        case ECONNREFUSED: "connection refused (nothing listens there)"
        case ETIMEDOUT: "no answer in time"
        case ECONNRESET, EPIPE: "the peer closed the connection"
        case ENETUNREACH: "network is unreachable"
        case EHOSTUNREACH: "host is unreachable"
        case ECANCELED: "called off"
        case EADDRINUSE: "address already in use"
        case EACCES: "permission denied"
        case ENOENT: "no such file or directory"
        case EMFILE, ENFILE: "too many open files"
        default: Self.message(of: code)
        }
    }

    /// The reason, what it was about, and the function: "connection refused … (127.0.0.1:5222, connect)".
    package var description: String {
        subject.isEmpty ? "\(reason) (\(function))" : "\(reason) (\(subject), \(function))"
    }

    /// The system's own words for an error number.
    private static func message(of code: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let base = buffer.baseAddress, strerror_r(code, base, buffer.count) == 0 else {
                return "system error \(code)"
            }
            return String(cString: base)
        }
    }
}

extension TransportError {
    /// The end of a transport by a failed system call.
    init(_ error: SystemError) {
        let code: Code
        switch error.code {
        case ECONNRESET, EPIPE, ENOTCONN, ENETDOWN, ENETRESET, ENETUNREACH, EHOSTUNREACH, ECONNABORTED:
            code = .connectionLost
        case ETIMEDOUT, ECONNREFUSED:
            code = .timedOut
        default:
            code = .system
        }
        self.init(code, error.description)
    }
}
