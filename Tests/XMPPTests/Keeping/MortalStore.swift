// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPP
import XMPPCore
import XMPPProtocol
import XMPPStorage

/// A store whose process is killed at a certain call: from then on nothing more comes back from it, as in a process
/// that is no more.
final class MortalStore: StreamStateStore {
    /// When death comes.
    struct Death: Sendable, CustomTestStringConvertible {
        /// The call that is the last.
        var call: Int
        /// Whether what that call brings is kept before.
        var isAfterCommit: Bool

        var testDescription: String { "\(isAfterCommit ? "after" : "before") the commit of call \(call)" }
    }

    private struct State {
        var calls = 0
        var isDead = false
        var isBuried = false
        var graves: [CheckedContinuation<Void, Never>] = []
        var mourner: CheckedContinuation<Bool, Never>?
    }

    private let base: DurableStreamStateStore
    private let death: Death?
    private let state = Locked(State())
    private let executor = StreamExecutor(label: "mortal store")

    init(_ base: DurableStreamStateStore, _ death: Death?) {
        self.base = base
        self.death = death
    }

    var keepsProgress: Bool { true }

    func state(of account: JID) async throws -> StreamState? {
        try await base.state(of: account)
    }

    func save(_ state: StreamState?, of account: JID) async throws {
        if self.state.withLock({ $0.isDead }) { try await rest() }
        try await base.save(state, of: account)
    }

    func keep(_ steps: [StreamProgress], of account: JID) async throws {
        let isLast = state.withLock { state -> Bool in
            state.calls += 1
            return state.calls == death?.call
        }
        if isLast {
            if death?.isAfterCommit == true { try await base.keep(steps, of: account) }
            let mourner = state.withLock { state in
                state.isDead = true
                defer { state.mourner = nil }
                return state.mourner
            }
            mourner?.resume(returning: true)
        }
        if state.withLock({ $0.isDead }) { try await rest() }
        try await base.keep(steps, of: account)
    }

    /// Waits for death, or for the end of `life` without it.
    func dies(before life: Task<Void, Never>) async -> Bool {
        Task {
            await life.value
            let mourner = state.withLock { state in
                defer { state.mourner = nil }
                return state.mourner
            }
            mourner?.resume(returning: false)
        }
        return await withCheckedContinuation { continuation in
            let isDead = state.withLock { state -> Bool in
                if !state.isDead { state.mourner = continuation }
                return state.isDead
            }
            if isDead { continuation.resume(returning: true) }
        }
    }

    /// Lets go of the tasks of the dead, for the test to end.
    func bury() {
        let graves = state.withLock { state in
            state.isBuried = true
            defer { state.graves = [] }
            return state.graves
        }
        for grave in graves { grave.resume() }
    }

    private func rest() async throws {
        await withCheckedContinuation { continuation in
            let isBuried = state.withLock { state -> Bool in
                if !state.isBuried { state.graves.append(continuation) }
                return state.isBuried
            }
            if isBuried { continuation.resume() }
        }
        throw CancellationError()
    }
}
