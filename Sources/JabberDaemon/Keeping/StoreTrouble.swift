// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPStorage

/// Why nothing can be kept just now, and who is told when that begins and when it has ended.
final class StoreTrouble: Sendable {
    private struct State {
        var error: StorageError?
        var tell: (@Sendable (StorageError?) -> Void)?
    }

    private let state = Locked(State())

    /// What the last attempt to keep something has failed with; `nil` when it has not.
    var present: StorageError? { state.withLock { $0.error } }

    /// Sets who is told: of an error when it is another one than before, of `nil` when there is none any more.
    func tell(_ tell: @escaping @Sendable (StorageError?) -> Void) {
        state.withLock { $0.tell = tell }
    }

    /// Something was kept, or could not be because of this.
    func note(_ error: StorageError?) {
        let tell = state.withLock { state -> (@Sendable (StorageError?) -> Void)? in
            // A store that is being closed, a rule that was broken, or what nobody could keep says nothing of the disk.
            guard error?.code != .closed, error?.code != .constraint, error?.code != .unstorable,
                state.error?.code != error?.code
            else {
                return nil
            }
            state.error = error
            return state.tell
        }
        tell?(error)
    }

    /// Does something, and notes what comes of it.
    func watch<Value: Sendable>(
        _ body: () async throws(StorageError) -> Value
    ) async -> Result<Value, StorageError> {
        do throws(StorageError) {
            let value = try await body()
            note(nil)
            return .success(value)
        } catch {
            note(error)
            return .failure(error)
        }
    }
}
