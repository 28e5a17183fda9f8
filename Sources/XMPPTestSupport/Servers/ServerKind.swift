// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import SocketIO
internal import XMPPCore

/// A program that a test can run as its own server.
public enum ServerKind: String, Sendable, Hashable, CaseIterable {
    /// Prosody, 0.12 or later.
    case prosody
    /// ejabberd, 23.01 or later.
    case ejabberd
    /// Prosody 13 with the community's modules for SASL2, Bind 2 and tokens, from a newer Debian in a folder that
    /// `Scripts/newer-servers` makes.
    case prosody13
    /// ejabberd 24.12, which has SASL2, Bind 2 and tokens too, from the same folder.
    case ejabberd24

    /// What accounts of a server prove themselves by.
    public enum Proof: Sendable, Hashable {
        /// Their passwords.
        case password
        /// A client certificate of the server's own authority, beside the password on ejabberd, and alone on Prosody
        /// 13; Prosody 0.12 has no module for it.
        case certificate
        /// An access token that the server makes, beside the password; Prosody 13 alone.
        case accessToken
    }

    /// The servers of this Debian.
    public static let allCases: [ServerKind] = [.prosody, .ejabberd]
    /// The servers of a newer one.
    public static let newer: [ServerKind] = [.prosody13, .ejabberd24]

    /// How long a server may take until it answers.
    private static let startLimit: Duration = .seconds(120)
    /// How often the start is tried with new ports, should another program have taken one meanwhile.
    private static let attempts = 2

    /// Whether the program is installed on this machine.
    public var isInstalled: Bool {
        switch self {
        case .prosody: ProsodyServer.program != nil
        case .ejabberd: EjabberdServer.program != nil && EjabberdServer.libraries != nil
        case .prosody13: newerRoot != nil
        case .ejabberd24: newerRoot.map { EjabberdServer.libraries(in: $0) != nil } ?? false
        }
    }

    /// Where a newer Debian is: `$SWIFT_XMPP_TRIXIE`, else a folder that `Scripts/newer-servers` makes. `nil` when it
    /// is not there, or this process may not change its root, and for the servers of this one.
    private var newerRoot: String? {
        switch self {
        case .prosody, .ejabberd: return nil
        case .prosody13, .ejabberd24:
            let root = getenv("SWIFT_XMPP_TRIXIE").map { String(cString: $0) } ?? "/var/tmp/swift-xmpp-trixie"
            let isThere = geteuid() == 0 && FileProbe.isExecutable("\(root)/usr/bin/prosody")
            let modules = FileProbe.entry(of: "\(root)/usr/lib/prosody/modules", beginning: "mod_sasl2")
            return isThere && modules != nil ? root : nil
        }
    }

    /// Whether tests with this server should run: it is installed, or its absence must not go unnoticed because the
    /// environment has `CI=true`. Prints the reason when the answer is no.
    public var isExpected: Bool {
        if isInstalled { return true }
        if Self.newer.contains(self) {
            print("\(rawValue) is not installed: tests with it are left out (Scripts/newer-servers, as root)")
            return false
        }
        if getenv("CI").map({ String(cString: $0) }) == "true" { return true }
        print("\(rawValue) is not installed: tests with it are left out (Scripts/dependencies test)")
        return false
    }

    /// The servers whose tests should run here; prints the reason for each that is left out.
    public static var expected: [ServerKind] { allCases.filter(\.isExpected) }

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - domain: The domain to serve.
    ///   - accounts: Passwords by localpart; printable ASCII without quotation marks and backslashes.
    ///   - areFriends: Whether all accounts see each other from the start.
    ///   - proof: What accounts prove themselves by.
    ///   - registration: Who may make accounts by themselves.
    /// - Throws: ``TestSupportError`` when it is not installed or does not come up; then nothing is left behind.
    public func start(
        domain: String = "example.org", accounts: [String: String], areFriends: Bool = true,
        proof: Proof = .password, registration: ServerRegistration = .closed
    ) async throws(TestSupportError) -> PrivateServer {
        guard isInstalled else { throw TestSupportError("\(rawValue) is not installed") }
        var failure = TestSupportError("\(rawValue) was not started")
        for _ in 0..<Self.attempts {
            let root = newerRoot
            var site = try ServerSite(
                domain: domain, accounts: accounts, areFriends: areFriends, proof: proof, root: root)
            site.registration = registration
            let process =
                switch self {
                case .prosody, .prosody13: try ProsodyServer.launch(site, root: root)
                case .ejabberd, .ejabberd24: try EjabberdServer.launch(site, root: root)
                }
            if await Self.answers(site, process) { return PrivateServer(kind: self, site: site, process: process) }
            failure = TestSupportError("\(rawValue) did not come up; it wrote: \(process.logTail)")
            await process.stop()
            site.folder.remove()
        }
        throw failure
    }

    /// Waits until the server answers a stream header on both ports, or has ended.
    private static func answers(_ site: ServerSite, _ process: ServerProcess) async -> Bool {
        let clock = SystemClock()
        let deadline = clock.now + startLimit
        while process.isRunning, clock.now < deadline {
            if await ReadinessProbe.isAnswered(site.port, domain: site.domain) {
                return await ReadinessProbe.isOpen(site.directTLSPort)
            }
            await Pause.briefly()
        }
        return false
    }
}

/// Who may make accounts by themselves at a private server (XEP-0077).
public enum ServerRegistration: Sendable, Hashable {
    /// Nobody.
    case closed
    /// Everybody; Prosody also takes invitations (XEP-0445), which its admin, the first account by name, can have made
    /// for accounts too (XEP-0401).
    case open
    /// With ejabberd, whoever solves a riddle (XEP-0158), whose solution is in the file `riddle` of
    /// ``PrivateServer/folderPath``; otherwise as ``open``.
    case riddle
}
