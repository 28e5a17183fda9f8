// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Where files are, by the XDG base directory specification.
package struct RuntimePaths: Hashable, Sendable {
    /// Settings and accounts: `$XDG_CONFIG_HOME/jabberctl`.
    package var config: String
    /// What must survive a restart: `$XDG_STATE_HOME/jabberctl`.
    package var state: String
    /// Sockets: `$XDG_RUNTIME_DIR/jabberctl`, or `run` below ``state`` where there is no such folder.
    package var runtime: String
    /// The administrator's settings: `/etc/jabberctl`.
    package var system = "/etc/jabberctl"

    /// Reads the environment. Relative folders in it are ignored, as the specification asks.
    ///
    /// - Parameter environment: `HOME` and `XDG_…`; without `HOME` the password database is asked.
    package init(environment: [String: String]) {
        let home = Self.absolute(environment["HOME"]) ?? Self.homeFromDatabase() ?? "/nonexistent"
        func folder(_ variable: String, _ fallback: String) -> String {
            (Self.absolute(environment[variable]) ?? "\(home)/\(fallback)") + "/jabberctl"
        }
        config = folder("XDG_CONFIG_HOME", ".config")
        state = folder("XDG_STATE_HOME", ".local/state")
        runtime = Self.absolute(environment["XDG_RUNTIME_DIR"]).map { $0 + "/jabberctl" } ?? "\(state)/run"
    }

    /// The user's settings file.
    package var configFile: String {
        config + "/config.json"
    }

    /// The administrator's settings file.
    package var systemFile: String {
        system + "/config.json"
    }

    /// What a daemon in the background has to say.
    package var daemonLog: String {
        state + "/daemon.log"
    }

    /// The socket of the user's daemon.
    package var controlSocket: String {
        runtime + "/control.sock"
    }

    private static func absolute(_ path: String?) -> String? {
        guard let path, path.hasPrefix("/") else { return nil }
        return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    private static func homeFromDatabase() -> String? {
        guard let entry = getpwuid(getuid()), let home = entry.pointee.pw_dir else { return nil }
        return absolute(String(cString: home))
    }
}
