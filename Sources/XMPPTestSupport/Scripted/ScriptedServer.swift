// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
public import XMPP
public import XMPPCore
internal import XMPPTransport

/// A server in memory that follows a script: for what happens when a server does something strange.
///
/// ```swift
/// let server = try ScriptedServer()
/// async let played: Void = server.play(StreamScript(.advance(to: .bound), .send("<message><body>hi</body></message>")))
/// let stream = XMPPStream(server.configuration)
/// _ = try await stream.connect()
/// try await played
/// ```
///
/// No socket is opened; TLS is real all the same. `ScriptedServer(usesTLS: false)` does without, and is quicker.
public actor ScriptedServer {
    /// The account that can log in.
    public nonisolated let account: JID
    /// A configuration with which a client comes to this server; change it as the test needs.
    public nonisolated let configuration: XMPPConfiguration

    let password: String
    let usesTLS: Bool
    let context: TLSContext
    private nonisolated let folder: TemporaryFolder
    private nonisolated let doorway = Doorway()
    var stage = StreamScript.Stage.tcp
    var current: ScriptedConnection?
    /// The id of the stanza that was awaited last.
    var awaitedID: String?
    /// How long an awaited element may take; default ``Patience/usual``.
    public var patience: Duration = Patience.usual

    private var connections: [ScriptedConnection] = []
    private var upcoming: [ScriptedConnection] = []
    private var arrival: CheckedContinuation<Void, Never>?

    /// Makes a server; it says nothing before ``play(_:)``.
    ///
    /// - Parameters:
    ///   - account: The account; default `juliet@example.org`.
    ///   - password: Its password; printable ASCII.
    ///   - usesTLS: Whether STARTTLS is offered; without, the configuration permits plaintext on loopback.
    ///   - flaw: What is wrong with the certificate.
    /// - Throws: ``TestSupportError`` when the address is none, or no certificate can be made.
    public init(
        account: String = "juliet@example.org", password: String = "secret", usesTLS: Bool = true,
        flaw: TestCertificate.Flaw? = nil
    ) throws(TestSupportError) {
        do {
            self.account = try JID(account)
            let authority = try TestAuthority()
            let certificate = try authority.issue(for: self.account.asciiDomain, flaw: flaw)
            folder = try TemporaryFolder(prefix: "xmpp-scripted")
            context = try TLSContext.server(
                certificate: .bytes(certificate.certificate), privateKey: .bytes(certificate.privateKey))
            var configuration = XMPPConfiguration(jid: self.account, password: Password(password))
            configuration.certificateAuthorityFile = try folder.write(authority.certificate, to: "ca.pem")
            if !usesTLS { configuration.securityPolicy = .plaintextOnLoopback }
            configuration.connector = ScriptedConnector(doorway: doorway)
            self.configuration = configuration
        } catch {
            throw TestSupportError("the scripted server cannot be made: \(error)")
        }
        self.password = password
        self.usesTLS = usesTLS
        let doorway = doorway
        doorway.open { [weak self] wire in await self?.accept(wire) }
    }

    /// Changes how long an awaited element may take.
    public func setPatience(_ patience: Duration) {
        self.patience = patience
    }

    /// What the client sent on each connection: stream headers, elements and stream ends as text, in order.
    public var received: [[String]] {
        get async {
            var result: [[String]] = []
            for connection in connections { result.append(await connection.units.map(\.text)) }
            return result
        }
    }

    /// Waits until the client has sent something that contains this, after what was awaited before.
    ///
    /// - Returns: The whole header or element as text.
    /// - Throws: ``TestSupportError`` when it does not come in time.
    @discardableResult
    public func next(containing text: String) async throws(TestSupportError) -> String {
        let unit = try await connection().next(containing: text, within: patience)
        awaitedID = unit.element?["id"]
        return unit.text
    }

    /// Waits until the client has closed its present connection.
    ///
    /// - Throws: ``TestSupportError`` when it does not in time.
    public func waitForEnd() async throws(TestSupportError) {
        try await connection().untilEnd(within: patience)
    }

    /// The present connection; waits for the first.
    func connection() async throws(TestSupportError) -> ScriptedConnection {
        if let current { return current }
        return try await nextConnection()
    }

    /// The connection after the present one.
    func nextConnection() async throws(TestSupportError) -> ScriptedConnection {
        if upcoming.isEmpty {
            let timer = SystemClock().schedule(after: patience, on: StreamExecutor()) { [weak self] in
                Task { await self?.arrived() }
            }
            await withCheckedContinuation { arrival = $0 }
            timer.cancel()
        }
        guard !upcoming.isEmpty else { throw TestSupportError("the client did not connect within \(patience)") }
        let next = upcoming.removeFirst()
        current = next
        stage = .tcp
        await next.start()
        return next
    }

    private func accept(_ wire: ScriptedTransport) {
        let connection = ScriptedConnection(wire)
        connections.append(connection)
        upcoming.append(connection)
        arrived()
    }

    private func arrived() {
        arrival?.resume()
        arrival = nil
    }
}
