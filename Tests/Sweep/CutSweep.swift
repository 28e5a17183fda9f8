// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPP
internal import XMPPTestSupport

/// Cuts the connection of a session after one byte after another, and counts what is lost and what is doubled.
struct CutSweep: Sendable {
    /// Whose server.
    enum Server: String, Sendable, CaseIterable {
        case loopback
        case prosody
        case ejabberd
    }

    /// Whose session.
    enum Client: String, Sendable, CaseIterable {
        case library
        case daemon
    }

    /// After how many sessions there is a new server: its archive grows, and is read when a session is refused.
    private static let sessionsPerServer = 25

    /// At one of how many places the daemon's server falls silent.
    private static let placesPerStall = 16

    let server: Server
    let client: Client
    /// How far the places are apart, in bytes. Above 1 the ends of elements and the bytes around them are places too,
    /// and each place is cut in one way instead of all.
    let step: Int
    let messages: Int
    /// How many sessions there are at once, where each may have a server of its own.
    private let workers = 6

    init(server: Server, client: Client, step: Int, messages: Int) {
        self.server = server
        self.client = client
        self.step = step
        self.messages = messages
    }

    /// What becomes of the session, with the server of this package.
    private static let resumptions: [(String, LoopbackOptions.Resumption)] = [
        ("resumed", .kept(for: .seconds(60))), ("refused with h", .refusedWithCount), ("refused", .refused),
        ("refused strangely", .refusedStrangely),
    ]

    func run() async throws -> CutTally {
        var all = CutTally()
        switch server {
        case .loopback:
            for (name, resumption) in Self.resumptions {
                let tally = try await sweep { try await LoopbackStage(resumption) }
                print("\(server.rawValue), \(client.rawValue), \(name): \(tally)")
                all += tally
            }
        case .prosody, .ejabberd:
            guard let kind = ServerKind(rawValue: server.rawValue), kind.isExpected else { return all }
            let stage = try await RealStage(kind)
            let tally: CutTally
            do {
                tally = try await sweep { SharedStage(stage: stage) }
            } catch {
                await stage.end()
                throw error
            }
            await stage.end()
            print("\(server.rawValue), \(client.rawValue): \(tally)")
            all += tally
        }
        return all
    }

    private func sweep(_ makeStage: @escaping @Sendable () async throws -> any CutStage) async throws -> CutTally {
        let cuts = try await reference(makeStage)
        let isShared = server != .loopback
        let next = Locked(0)
        return try await withThrowingTaskGroup(returning: CutTally.self) { group in
            // On a shared server the next connection has to be the one that is meant.
            for _ in 0..<(isShared ? 1 : workers) {
                group.addTask {
                    var tally = CutTally()
                    while let batch = Self.take(from: cuts, next) {
                        tally += try await run(batch, makeStage)
                    }
                    return tally
                }
            }
            return try await group.reduce(into: CutTally()) { $0 += $1 }
        }
    }

    private static func take(from cuts: [Cut], _ next: Locked<Int>) -> (first: Int, cuts: ArraySlice<Cut>)? {
        next.withLock { next in
            guard next < cuts.count else { return nil }
            defer { next += sessionsPerServer }
            return (next, cuts[next..<min(cuts.count, next + sessionsPerServer)])
        }
    }

    private func run(
        _ batch: (first: Int, cuts: ArraySlice<Cut>), _ makeStage: () async throws -> any CutStage
    ) async throws -> CutTally {
        try await atStage(makeStage) { stage, client in try await run(batch, stage, client) }
    }

    /// Does something with a client at a stage, and ends both whatever comes of it: no daemon is left behind.
    private func atStage<Outcome>(
        _ makeStage: () async throws -> any CutStage,
        _ work: (any CutStage, any CutClient) async throws -> Outcome
    ) async throws -> Outcome {
        let stage = try await makeStage()
        do {
            let client = try await makeClient(at: stage)
            do {
                let outcome = try await work(stage, client)
                await client.end()
                await stage.end()
                return outcome
            } catch {
                await client.end()
                throw error
            }
        } catch {
            await stage.end()
            throw error
        }
    }

    private func run(
        _ batch: (first: Int, cuts: ArraySlice<Cut>), _ stage: any CutStage, _ client: any CutClient
    ) async throws -> CutTally {
        var tally = CutTally()
        for (offset, cut) in batch.cuts.enumerated() {
            let ids = ids(batch.first + offset)
            var one = CutTally(cuts: 1)
            let began = ContinuousClock.now
            let outcome = try await client.run(ids, cut)
            one.slowest = ContinuousClock.now - began
            one.count(outcome.sent, of: ids)
            let echoes = Set(ids.map { "echo-\($0)" })
            let sentInOrder = one.disordered == 0
            one.count(outcome.received.filter { echoes.contains($0.id) }, of: ids.map { "echo-\($0)" })
            if server != .loopback, sentInOrder, one.disordered > 0 {
                // ejabberd 23.01 may hand out what comes while a session is taken over before what it had kept.
                (one.disordered, one.reordered) = (0, 1)
            }
            // What the session before has taken, and whose end was cut off before it could say so, comes again under
            // its name.
            for late in outcome.received where !echoes.contains(late.id) && late.id.hasPrefix("echo-") {
                if late.name == nil { one.doubled += 1 } else { one.repeated += 1 }
            }
            one.resumed = outcome.resumed
            if !one.isClean {
                print("\(cut): \(one)")
                print("  sent \(outcome.sent.map(\.id)) received \(outcome.received.map(\.id))")
            }
            tally += one
        }
        return tally
    }

    private func makeClient(at stage: any CutStage) async throws -> any CutClient {
        switch client {
        case .library: LibraryClient(stage: stage)
        case .daemon: try await DaemonClient(at: stage)
        }
    }

    private func ids(_ number: Int) -> [String] { (1...messages).map { "\(number)x\(step)-\($0)" } }

    /// A session that nobody cuts, and the places that are found in it.
    private func reference(_ makeStage: () async throws -> any CutStage) async throws -> [Cut] {
        var tally = CutTally()
        let ids = (1...messages).map { "whole-\($0)" }
        let (outcome, ends) = try await atStage(makeStage) { stage, client in
            (try await client.run(ids, nil), await stage.ends())
        }
        tally.count(outcome.sent, of: ids)
        tally.count(outcome.received, of: ids.map { "echo-\($0)" })
        guard tally.isClean else { throw TestSupportError("a session that nobody cuts is not whole: \(tally)") }
        return cuts(ends.toClient, .toClient) + cuts(ends.fromClient, .fromClient)
    }

    private func cuts(_ ends: [Int], _ direction: LoopbackFault.Direction) -> [Cut] {
        let last = ends.last ?? 0
        var places = Set(stride(from: 0, to: last + 1, by: max(1, step)))
        if step > 1, step <= 64 { places.formUnion(ends.flatMap { [$0 - 1, $0, $0 + 1] }) }
        return places.sorted().enumerated().flatMap { number, place -> [Cut] in
            endings(number).map { Cut(place: place, direction: direction, ending: $0) }
        }
    }

    /// How the connection is cut at a place.
    private func endings(_ number: Int) -> [Cut.Ending] {
        switch client {
        case .library:
            let all = Cut.Ending.allCases
            return step == 1 ? all : [all[number % all.count]]
        case .daemon:
            // The daemon's time limits are those of its users: a silent server takes it half a minute to notice.
            if number % Self.placesPerStall == Self.placesPerStall / 2 { return [.stall] }
            return step == 1 ? [.reset, .close] : [number % 2 == 0 ? .reset : .close]
        }
    }
}

/// A stage that is used again.
private struct SharedStage: CutStage {
    let stage: RealStage

    var peer: JID { stage.peer }
    func configuration() async throws -> XMPPConfiguration { try await stage.configuration() }
    func plan(_ cut: Cut) async { await stage.plan(cut) }
    func ask(_ client: JID) async { await stage.ask(client) }
    func arrived(_ prefix: String) async throws -> [Arrival] { try await stage.arrived(prefix) }
    func ends() async -> (toClient: [Int], fromClient: [Int]) { await stage.ends() }
    func end() async {}
}
