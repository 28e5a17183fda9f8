// SPDX-License-Identifier: Apache-2.0

package import JabberControl
package import SocketIO
internal import XMPP

/// A daemon that stays: holds the sessions of all configured accounts open and serves whoever connects to its socket.
package actor LastingDaemon {
    /// How long streams may take to end in good order; with the clients' farewell that is less than 5 seconds.
    private static let closingTime: Duration = .milliseconds(4_300)

    private let daemon: Daemon
    private let server: ControlServer
    private let notifier: SystemdNotifier
    private let settings: String?
    private let notices: AsyncStream<Void>
    private let notice: AsyncStream<Void>.Continuation
    private let wishes: AsyncStream<DaemonEnd>
    private let wish: AsyncStream<DaemonEnd>.Continuation
    private var helpers: [Task<Void, Never>] = []
    private var failure: ControlError?
    private var network: NetworkWatch?

    /// Makes a daemon; nothing happens before ``run(_:)``.
    ///
    /// - Parameters:
    ///   - environment: The world around it.
    ///   - variables: The process's own variables: whom to tell what becomes of the service (sd_notify(3)).
    ///   - settings: The settings file in place of the usual ones.
    ///   - socket: The control socket, which listens.
    package init(
        environment: DaemonEnvironment, variables: [String: String] = [:], settings: String? = nil,
        socket: ListeningSocket
    ) {
        (notices, notice) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        (wishes, wish) = AsyncStream.makeStream(of: DaemonEnd.self, bufferingPolicy: .bufferingOldest(1))
        var environment = environment
        let (said, notice) = (environment.notice, notice)
        environment.notice = { text in
            said?(text)
            notice.yield()
        }
        daemon = Daemon(environment: environment)
        server = ControlServer(socket, daemon: daemon)
        notifier = SystemdNotifier(variables)
        self.settings = settings
    }

    /// Serves until somebody wishes the end, and ends every stream in good order.
    ///
    /// - Returns: What is to become of the process.
    package func run(_ configuration: ConfigurationFile) async -> DaemonEnd {
        let wish = wish
        let office = DaemonOffice(
            socket: server.path, settings: settings, since: .now,
            reload: { [weak self] () async throws(ControlError) in
                if let error = await self?.reload() { throw error }
            },
            end: { wish.yield($0) })
        await daemon.open(configuration, office: office)
        await server.start()
        network = NetworkWatch { [weak self] _ in
            Task { [weak self] in await self?.networkChanged() }
        }
        notifier.ready(await status())
        helpers = [Task { await self.tellStatus() }, Task { await self.tellAlive() }]
        var end = DaemonEnd.stop
        for await wanted in wishes {
            end = wanted
            break
        }
        await finish(end)
        return end
    }

    /// Wishes the end; returns at once.
    nonisolated package func end(_ end: DaemonEnd = .stop) {
        wish.yield(end)
    }

    /// Reads the settings again. When they are wrong, those in force stay so, and the error is shown.
    ///
    /// - Returns: What is wrong with them.
    @discardableResult
    package func reload() async -> ControlError? {
        notifier.reloading()
        do throws(ControlError) {
            try await daemon.reload()
            failure = nil
        } catch {
            failure = error
            daemon.environment.notice?("not all settings are taken: \(error.message)")
        }
        notifier.ready(await status())
        return failure
    }

    /// The machine has got an address or a route, or was asleep.
    func networkChanged() async {
        await daemon.networkChanged()
    }

    private func finish(_ end: DaemonEnd) async {
        for helper in helpers { helper.cancel() }
        network = nil
        if end == .restart { notifier.reloading() } else { notifier.stopping() }
        await server.stopAccepting()
        let daemon = daemon
        await Race.attempt(within: Self.closingTime) { await daemon.stop(leavingSessions: end == .restart) }
        let what = end == .restart ? "starts again" : "has ended"
        await server.close(saying: ControlError(.daemonNotRunning, "the daemon \(what)"))
    }

    private func status() async -> String {
        let summary = await daemon.summary()
        return failure.map { "\(summary); settings not taken: \($0.clause)" } ?? summary
    }

    private func tellStatus() async {
        for await _ in notices { notifier.status(await status()) }
    }

    private func tellAlive() async {
        guard let watchdog = notifier.watchdog else { return }
        while !Task.isCancelled {
            // Through the daemon itself: one that hangs is not alive.
            _ = await daemon.isEnding
            notifier.alive()
            await Race.pause(watchdog / 2)
        }
    }
}
