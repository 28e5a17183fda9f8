// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP
import XMPPTestSupport

/// A server to try the commands on, with the accounts juliet, romeo and nurse and the password `secret` for each.
struct Place: Sendable {
    /// The domain of the accounts.
    let domain: String
    /// Where it listens.
    let host: String
    let port: UInt16
    let directTLSPort: UInt16
    /// The certificate authority to trust.
    let authorityFile: String
    private let end: @Sendable () async -> Void

    init(
        domain: String, host: String, port: UInt16, directTLSPort: UInt16, authorityFile: String,
        end: @escaping @Sendable () async -> Void
    ) {
        self.domain = domain
        self.host = host
        self.port = port
        self.directTLSPort = directTLSPort
        self.authorityFile = authorityFile
        self.end = end
    }

    static let accounts = ["juliet": "secret", "romeo": "secret", "nurse": "secret"]

    /// Runs `body` with a server of a kind, and ends the server.
    static func with(_ kind: Kind, _ body: (Place) async throws -> Void) async throws {
        let place = try await kind.start()
        do {
            try await body(place)
        } catch {
            await place.end()
            throw error
        }
        await place.end()
    }

    /// The servers that the same body runs on.
    enum Kind: String, Sendable, CaseIterable {
        case loopback
        case prosody
        case ejabberd

        /// Those that are here. In continuous integration an absent one is not passed over.
        static var expected: [Kind] {
            [.loopback] + ServerKind.expected.compactMap { Kind(rawValue: $0.rawValue) }
        }

        fileprivate func start() async throws -> Place {
            switch self {
            case .loopback:
                let server = try await LoopbackServer.start(domain: "example.org", accounts: Place.accounts)
                return Place(
                    domain: server.domain.description, host: server.host, port: server.port,
                    directTLSPort: server.directTLSPort ?? 0, authorityFile: server.certificateAuthorityFile
                ) {
                    await server.stop()
                }
            case .prosody: return try await Self.start(.prosody)
            case .ejabberd: return try await Self.start(.ejabberd)
            }
        }

        private static func start(_ kind: ServerKind) async throws -> Place {
            let server = try await kind.start(domain: "example.org", accounts: Place.accounts, areFriends: false)
            return Place(
                domain: server.domain.description, host: server.host, port: server.port,
                directTLSPort: server.directTLSPort, authorityFile: server.certificateAuthorityFile
            ) {
                await server.stop()
            }
        }
    }
}
