// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import SocketIO

/// Finds the password of an account where the daemon may look: systemd's credentials, the account's command, its
/// settings.
///
/// The sources that need the user's side are the tool's: `--password-fd` comes before these, `JABBERCTL_PASSWORD` and
/// the terminal after them. The tool hands over what it read with the method `session.password`.
package struct PasswordSource: Sendable {
    /// The longest password in bytes: 64 KiB.
    package static let maximumBytes = 64 << 10
    /// How long a password command may take.
    package static let maximumCommandTime: Duration = .seconds(60)

    /// The environment; `CREDENTIALS_DIRECTORY` is read, and commands run in it without `JABBERCTL_PASSWORD`.
    package var environment: [String: String]

    /// Makes a source.
    package init(environment: [String: String]) {
        self.environment = environment
    }

    /// The password of an account; `nil` when there is none anywhere. Blocks while a command runs, for
    /// ``maximumCommandTime`` at most.
    ///
    /// Order: the credential `jabberctl.NAME`, the credential `jabberctl`, `passwordCommand`, `password`.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/configuration`` when a command fails.
    package func password(of account: AccountConfiguration) throws(ControlError) -> String? {
        if let password = try credential("jabberctl", account) { return password }
        guard let command = account.passwordCommand else { return account.password }
        return try run(command, "the password command of account \"\(account.name)\"")
    }

    /// A credential that systemd hands over, for one account or for all; `nil` when there is none.
    private func credential(_ name: String, _ account: AccountConfiguration) throws(ControlError) -> String? {
        guard let folder = environment["CREDENTIALS_DIRECTORY"] else { return nil }
        for name in ["\(name).\(account.name)", name] where !name.contains("/") {
            if let contents = try PrivateFile.read("\(folder)/\(name)") {
                return try Self.firstLine(contents.bytes, of: "the credential \(name)")
            }
        }
        return nil
    }

    /// The access token of an account; `nil` when there is none anywhere. Blocks as ``password(of:)``.
    ///
    /// Order: the credential `jabberctl-token.NAME`, the credential `jabberctl-token`, `accessTokenCommand`,
    /// `accessToken`.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/configuration`` when a command fails.
    package func accessToken(of account: AccountConfiguration) throws(ControlError) -> String? {
        if let token = try credential("jabberctl-token", account) { return token }
        guard let command = account.accessTokenCommand else { return account.accessToken }
        return try run(command, "the token command of account \"\(account.name)\"")
    }

    /// The password of an account's certificate: what `certificatePasswordCommand` says, else `certificatePassword`;
    /// `nil` when there is none. Blocks as ``password(of:)``.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/configuration`` when a command fails.
    package func certificatePassword(of account: AccountConfiguration) throws(ControlError) -> String? {
        guard let command = account.certificatePasswordCommand else { return account.certificatePassword }
        return try run(command, "the certificate's password command of account \"\(account.name)\"")
    }

    /// The password for an account's proxy: what `proxyPasswordCommand` says, else what is in the address itself; `nil`
    /// when there is none. Blocks as ``password(of:)``.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/configuration`` when a command fails.
    package func proxyPassword(of account: AccountConfiguration) throws(ControlError) -> String? {
        guard let command = account.proxyPasswordCommand else {
            return account.proxy.flatMap(ProxyAddress.init)?.password
        }
        return try run(command, "the proxy's password command of account \"\(account.name)\"")
    }

    /// The first line of what a source gave, without its line end.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/configuration`` when it is empty, too long or no UTF-8.
    package static func firstLine(_ bytes: [UInt8], of source: String) throws(ControlError) -> String {
        var line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard line.count <= maximumBytes, let text = String(validating: line, as: UTF8.self) else {
            throw ControlError(.configuration, "\(source) gave no UTF-8 text of at most \(maximumBytes) bytes")
        }
        guard !text.isEmpty else { throw ControlError(.configuration, "\(source) gave an empty password") }
        return text
    }

    private func run(_ command: [String], _ source: String) throws(ControlError) -> String {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw ControlError(.inputOutput, "cannot make a pipe: \(String(cString: strerror(errno)))")
        }
        defer { Glibc.close(ends[0]) }
        var environment = environment
        environment["JABBERCTL_PASSWORD"] = nil
        let child = try start(command, environment: environment, output: ends[1])
        var output: [UInt8] = []
        var isLate = false
        let clock = SystemClock()
        let deadline = clock.now + Self.maximumCommandTime
        while output.count <= Self.maximumBytes {
            var wait = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
            let rest = max(.zero, deadline - clock.now)
            let ready = poll(&wait, 1, Int32(rest.inSeconds * 1_000))
            if ready == 0 {
                isLate = true
                break
            }
            guard ready > 0 || errno == EINTR else { break }
            if ready < 0 { continue }
            guard let piece = try FileDescriptor(ends[0]).readSome(name: source) else { break }
            output += piece
        }
        // One that writes without end waits for us to read on: it would never end by itself.
        let isTooLong = output.count > Self.maximumBytes
        if isLate || isTooLong { child.kill(SIGKILL) }
        let status = child.wait()
        guard !isLate else {
            throw ControlError(.configuration, "\(source) did not end within \(Self.maximumCommandTime.spoken)")
        }
        guard !isTooLong else {
            throw ControlError(.configuration, "\(source) wrote more than \(Self.maximumBytes) bytes")
        }
        guard status == 0 else { throw ControlError(.configuration, "\(source) ended with exit code \(status)") }
        return try Self.firstLine(output, of: source)
    }

    private func start(
        _ command: [String], environment: [String: String], output: Int32
    ) throws(ControlError) -> ChildProcess {
        defer { Glibc.close(output) }
        return try ChildProcess(command, environment: environment, descriptors: [(0, 0), (output, 1), (2, 2)])
    }
}
