// SPDX-License-Identifier: Apache-2.0

package import JabberControl
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

    /// Makes an environment; the paths follow from the variables.
    package init(variables: [String: String], log: (@Sendable (StreamLogEntry) -> Void)? = nil) {
        self.variables = variables
        paths = RuntimePaths(environment: variables)
        self.log = log
    }
}
