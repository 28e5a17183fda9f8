// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import JabberControl
internal import SocketIO
internal import XMPP
internal import XMPPTestSupport

/// The daemon: a `jabberctld` of its own, with an account at the stage's server, spoken to over its control socket.
final class DaemonClient: CutClient {
    /// How long something may take that will never come: a server that falls silent is noticed after half a minute.
    private static let patience: Duration = .seconds(120)
    private static let startLimit: Duration = .seconds(20)

    private let stage: any CutStage
    private let folder: TemporaryFolder
    private let process: ChildProcess
    private let socket: String
    private let listener: ControlCaller
    private let listening: Task<Void, Never>
    private let collector = Locked<CutCollector?>(nil)

    init(at stage: any CutStage) async throws {
        self.stage = stage
        folder = try TemporaryFolder(prefix: "swift-xmpp-sweep")
        let configuration = try await stage.configuration()
        var account = AccountConfiguration(name: "romeo", jid: configuration.jid.description)
        account.host = configuration.host
        account.port = configuration.port.map(Int.init)
        account.ca = configuration.certificateAuthorityFile
        account.tls = configuration.hostSecurity == .directTLS ? .direct : nil
        account.password = "secret"
        try PrivateFile.write(
            JSONValue.object(account.json).encodedPretty(),
            to: folder.file("config/jabberctl/accounts/romeo.json"))
        try PrivateFile.makeFolder(folder.file("run"))
        socket = folder.file("run/jabberctl/control.sock")
        let process = try Self.launch(in: folder)
        self.process = process
        do {
            try await Self.wait("the daemon to answer", socket)
            listener = try await Self.connect(socket)
        } catch {
            await Self.end(process, in: folder)
            throw error
        }
        // The first connection is the daemon's own affair.
        _ = try? await listener.call("connect", Self.params([:]))
        let (listener, collector) = (listener, collector)
        let isListening = Handover<Void>()
        listening = Task {
            isListening.give(())
            _ = try? await listener.call("listen", Self.params(["kind": ["message"]])) { event in
                guard let event = event.objectValue, event.string("type") == "message",
                    event.string("direction") != "out", let id = event.string("id")
                else { return true }
                let name = event["stanzaId"]?.objectValue?.string("id")
                collector.withLock { $0 }?.take(id, name: name)
                return true
            }
        }
        await isListening.value()
    }

    private static func launch(in folder: TemporaryFolder) throws -> ChildProcess {
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        var bytes = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &bytes, bytes.count - 1)
        let own = String(decoding: bytes.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let program = own.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        return try ChildProcess(
            ["\(program)/jabberctld"],
            environment: [
                "PATH": "/usr/sbin:/usr/bin:/bin", "HOME": folder.path, "XDG_CONFIG_HOME": folder.file("config"),
                "XDG_STATE_HOME": folder.file("state"), "XDG_RUNTIME_DIR": folder.file("run"),
            ], descriptors: [(null, 0), (null, 1), (null, 2)])
    }

    private static func wait(_ what: String, _ socket: String) async throws {
        try await Patience.wait(for: what, within: startLimit) { SocketPlace(socket).answers }
    }

    private static func connect(_ socket: String) async throws -> ControlCaller {
        guard let address = SocketAddress(unixPath: socket) else { throw TestSupportError("\(socket) is too long") }
        return ControlCaller(
            over: try await SocketTransport.connect(to: address, on: StreamExecutor(label: "sweep.control")))
    }

    private static func params(_ params: JSONObject) -> JSONObject {
        var params = params
        params["session"] = ["account": "romeo"]
        return params
    }

    func run(_ ids: [String], _ cut: Cut?) async throws -> CutOutcome {
        let collector = CutCollector(expecting: Set(ids.map { "echo-\($0)" }))
        self.collector.withLock { $0 = collector }
        let control = try await Self.connect(socket)
        if let cut { await stage.plan(cut) }
        _ = try? await control.call("reconnect", Self.params([:]))
        // The daemon comes back after a time that is drawn by lot; a sweep has none to lose.
        let nudging = Task { [socket] in
            guard let control = try? await Self.connect(socket) else { return }
            while !Task.isCancelled {
                _ = try? await control.call("connect", Self.params([:]))
                await Pause.briefly()
            }
            await control.close()
        }
        for id in ids {
            let to: JSONValue = .array([.string(stage.peer.description)])
            _ = try await control.call(
                "send", Self.params(["to": to, "text": .string(id), "id": .string(id), "until": "none"]))
        }
        await collector.waitForAll(Self.patience)
        nudging.cancel()
        await nudging.value
        await control.close()
        var outcome = CutOutcome(received: collector.arrived)
        if let first = ids.first, let prefix = first.split(separator: "-").first {
            outcome.sent = try await stage.arrived("\(prefix)-")
        }
        return outcome
    }

    func end() async {
        listening.cancel()
        await listener.close()
        await Self.end(process, in: folder)
    }

    private static func end(_ process: ChildProcess, in folder: TemporaryFolder) async {
        _ = kill(process.processID, SIGTERM)
        _ = await BlockingWork.run { process.wait() }
        folder.remove()
    }
}
