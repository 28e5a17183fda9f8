// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// `rpc`: the control protocol on standard input and output.
enum RPCCommand {
    /// Passes lines on until the input has ended and everything is answered, or the daemon goes.
    static func run(_ context: CommandContext) async throws(ControlError) -> ExitCode {
        let environment = context.environment
        let connection = try await environment.connect(context.options.daemon)
        environment.watch(connection)
        let bridge = Bridge(connection.transport, write: environment.write)
        context.deadline?.add(connection.client)
        bridge.start()
        let input = Task { () -> ControlError? in
            do throws(ControlError) {
                while let piece = try environment.readInput() { await bridge.send(piece) }
                bridge.endInput()
                return nil
            } catch {
                bridge.endInput()
                return error
            }
        }
        let failure = await bridge.ended()
        // Whoever waits for input that nobody would read waits no longer.
        if let failure { environment.stopWaiting(failure) }
        let inputFailure = await input.value
        await connection.finish(failure != nil)
        environment.watch(nil)
        if let failure = failure ?? inputFailure { throw failure }
        return .done
    }
}
