// SPDX-License-Identifier: Apache-2.0

import JabberCLI
import JabberControl
import JabberDaemon
import SocketIO

/// The command and a private daemon in this process, at the two ends of a socket pair.
final class InProcessCommand: RunningCommand {
    private let output = Lines()
    private let errors = Lines()
    private let watched = Locked<ControlCaller?>(nil)
    private let running: Locked<Task<Int32, Never>?> = Locked(nil)

    init(_ arguments: [String], input: String) {
        let variables = ["HOME": "/nonexistent", "XDG_RUNTIME_DIR": "/nonexistent"]
        let (output, errors) = (output, errors)
        var environment = CLIEnvironment(
            arguments: arguments, variables: variables, paths: RuntimePaths(environment: variables),
            write: { (bytes) throws(ControlError) in output.append(bytes) }, writeError: { errors.append($0) },
            connect: { (_) async throws(ControlError) in try Self.connect(variables) })
        environment.readDescriptor = { (_) throws(ControlError) in Array(input.utf8) }
        environment.watch = { [weak self] connection in self?.watched.withLock { $0 = connection?.client } }
        let complete = environment
        let task = Task {
            let code = await CommandRunner.run(complete).rawValue
            output.finish()
            return code
        }
        running.withLock { $0 = task }
    }

    private static func connect(_ variables: [String: String]) throws(ControlError) -> DaemonConnection {
        let near: SocketTransport
        let far: SocketTransport
        do throws(SystemError) {
            (near, far) = try SocketPair.transports(
                on: StreamExecutor(label: "test.tool"), and: StreamExecutor(label: "test.daemon"))
        } catch {
            throw ControlError(.internalError, "\(error)")
        }
        let daemon = PrivateDaemon(environment: DaemonEnvironment(variables: variables))
        let serving = Task { await daemon.run(over: far) }
        let client = ControlCaller(over: near)
        return DaemonConnection(client: client, transport: near, isPrivate: true) { _ in
            await client.close()
            await serving.value
        }
    }

    func lines(_ count: Int) async -> [String] { await output.first(count) }

    func end() async -> Tool.Outcome {
        let code = await running.withLock { $0 }?.value ?? -1
        return Tool.Outcome(code: code, output: output.text, errors: errors.text)
    }

    func interrupt() async -> Tool.Outcome {
        await watched.withLock { $0 }?.fail(ControlError(.interrupted, "interrupted"))
        return await end()
    }
}
