// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import SocketIO

/// A real proxy that a test can run as its own.
package enum ProxyProgram: String, Sendable, Hashable, CaseIterable {
    /// SOCKS 5, by microsocks.
    case microsocks
    /// HTTP's CONNECT, by tinyproxy.
    case tinyproxy

    private static let startLimit: Duration = .seconds(30)

    private var program: String? { ServerSite.find("/usr/bin/\(rawValue)", "/usr/local/bin/\(rawValue)") }

    /// Whether tests with this proxy should run: it is installed, or its absence must not go unnoticed because the
    /// environment has `CI=true`. Prints the reason when the answer is no.
    package var isExpected: Bool {
        if program != nil || getenv("CI").map({ String(cString: $0) }) == "true" { return true }
        print("\(rawValue) is not installed: tests with it are left out (Scripts/dependencies test)")
        return false
    }

    /// The proxies whose tests should run here.
    package static var expected: [ProxyProgram] { allCases.filter(\.isExpected) }

    /// Starts it on a port of 127.0.0.1.
    ///
    /// - Parameters:
    ///   - username: Whom it lets in; `nil` lets everybody in.
    ///   - password: The password for that name; letters and digits.
    /// - Throws: ``TestSupportError`` when it is not installed or does not come up; then nothing is left behind.
    package func start(username: String? = nil, password: String = "") async throws(TestSupportError) -> PrivateProxy {
        guard let program else { throw TestSupportError("\(rawValue) is not installed") }
        let folder = try TemporaryFolder(prefix: "xmpp-proxy")
        let port = try FreePorts.take()
        var arguments: [String]
        switch self {
        case .microsocks:
            arguments = ["-i", "127.0.0.1", "-p", "\(port)"]
            if let username { arguments += ["-u", username, "-P", password] }
        case .tinyproxy:
            var lines = ["Port \(port)", "Listen 127.0.0.1", "Timeout 600", "Allow 127.0.0.1"]
            if let username { lines.append("BasicAuth \(username) \(password)") }
            arguments = ["-d", "-c", try folder.write(lines.joined(separator: "\n") + "\n", to: "tinyproxy.conf")]
        }
        let process = try ServerProcess(program, arguments, logFile: folder.file("proxy.log"))
        let clock = SystemClock()
        let deadline = clock.now + Self.startLimit
        while process.isRunning, clock.now < deadline {
            if await ReadinessProbe.isOpen(port) { return PrivateProxy(port: port, process: process, folder: folder) }
            await Pause.briefly()
        }
        let reason = process.logTail
        await process.stop()
        throw TestSupportError("\(rawValue) did not come up; it wrote: \(reason)")
    }

}

/// A real proxy of a test's own, on 127.0.0.1.
package final class PrivateProxy: Sendable {
    /// The port that it listens at.
    package let port: UInt16
    private let process: ServerProcess
    private let folder: TemporaryFolder

    init(port: UInt16, process: ServerProcess, folder: TemporaryFolder) {
        self.port = port
        self.process = process
        self.folder = folder
    }

    /// Ends the proxy and removes its folder. Idempotent.
    package func stop() async {
        await process.stop()
        folder.remove()
    }
}
