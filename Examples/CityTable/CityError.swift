// SPDX-License-Identifier: Apache-2.0

import ExampleSupport

/// Why there is no table. A script tells them apart by the exit status.
enum CityError: Error, Hashable, CustomStringConvertible, ExitStatus {
    /// Nobody listens at the port.
    case refused
    /// Name and connection took too long.
    case unreachable
    /// The server says nothing.
    case silent
    /// The server began a line and ended, or fell silent, before the line's end.
    case halfLine
    /// The server ended without a word.
    case ended
    /// The line has no end in sight.
    case lineTooLong
    /// Anything else, in the system's words.
    case broken(String)

    var description: String {
        switch self {
        case .refused: "connection refused: nobody listens there"
        case .unreachable: "no connection within the limit"
        case .silent: "connected, but the server says nothing"
        case .halfLine: "half a line came, and not its end"
        case .ended: "the server ended without an answer"
        case .lineTooLong: "the server's line is too long"
        case .broken(let reason): reason
        }
    }

    var exitStatus: Int32 {
        switch self {
        case .broken: 1
        case .refused: 2
        case .unreachable: 3
        case .silent: 4
        case .halfLine: 5
        case .ended: 6
        case .lineTooLong: 7
        }
    }
}
