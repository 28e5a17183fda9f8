// SPDX-License-Identifier: Apache-2.0

package import JabberControl
package import SocketIO
package import XMPP

/// What a daemon knows of the world around it.
package struct DaemonEnvironment: Sendable {
    /// The environment variables.
    package var variables: [String: String]
    /// Where settings are.
    package var paths: RuntimePaths
    /// Where the streams' log goes; `nil` for nowhere.
    package var log: (@Sendable (StreamLogEntry) -> Void)?
    /// The most detailed level that is logged.
    package var logLevel = StreamLogEntry.Level.step
    /// Where it is said what becomes of sessions that are held open; `nil` for nowhere.
    package var notice: (@Sendable (String) -> Void)?
    /// The clock that tells how long nothing has arrived.
    package var clock: any StreamClock = SystemClock()
    /// Shows messages on the desktop.
    let notifier: DesktopNotifier

    /// Makes an environment; the paths follow from the variables.
    ///
    /// - Parameter variables: Those that are for this process alone (`NOTIFY_SOCKET` and the like) are left out: the
    ///   commands that passwords are asked from run in this environment.
    package init(variables: [String: String], log: (@Sendable (StreamLogEntry) -> Void)? = nil) {
        self.variables = variables.filter { !Self.ownVariables.contains($0.key) }
        paths = RuntimePaths(environment: variables)
        notifier = DesktopNotifier(environment: variables)
        self.log = log
    }

    private static let ownVariables: Set = [
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES",
    ]
}
