// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPCore

/// What every private server needs before it can start: a folder, ports, a certificate, accounts.
struct ServerSite {
    let domain: JID
    let accounts: [String: String]
    let areFriends: Bool
    let proof: ServerKind.Proof
    let authority: TestAuthority
    /// Who may make accounts.
    var registration = ServerRegistration.closed
    let folder: TemporaryFolder
    let port: UInt16
    let directTLSPort: UInt16
    let webSocketPort: UInt16
    let certificateAuthorityFile: String
    let certificateFile: String
    let keyFile: String

    /// The path of WebSockets.
    static let webSocketPath = "/xmpp-websocket"

    /// Makes the folder and the certificate, and finds free ports.
    ///
    /// - Parameters:
    ///   - domain: The domain to serve.
    ///   - accounts: Passwords by localpart.
    ///   - areFriends: Whether all accounts see each other.
    ///   - proof: What accounts prove themselves by.
    ///   - root: What the server takes for the root of the file system; `nil` for the root.
    init(
        domain: String, accounts: [String: String], areFriends: Bool, proof: ServerKind.Proof, root: String? = nil
    ) throws(TestSupportError) {
        do throws(JIDError) {
            self.domain = try JID(domainpart: domain)
        } catch {
            throw TestSupportError("“\(domain)” cannot be a domain: \(error)")
        }
        for (name, password) in accounts {
            // These go into configuration files as they are.
            let isPlain = (name + password).utf8.allSatisfy {
                (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
            }
            guard isPlain else { throw TestSupportError("the name or password of “\(name)” cannot be used here") }
        }
        self.accounts = accounts
        self.areFriends = areFriends
        self.proof = proof
        folder = try TemporaryFolder(prefix: "xmpp-server", in: root.map { $0 + "/tmp" })
        (port, directTLSPort, webSocketPort) = (try FreePorts.take(), try FreePorts.take(), try FreePorts.take())
        authority = try TestAuthority()
        let certificate = try authority.issue(for: self.domain.asciiDomain, and: [.address("127.0.0.1")])
        certificateAuthorityFile = try folder.write(authority.certificate, to: "ca.pem")
        try folder.makeFolder("certificates")
        certificateFile = try folder.write(certificate.certificate, to: "certificates/\(self.domain.asciiDomain).crt")
        keyFile = try folder.write(certificate.privateKey, to: "certificates/\(self.domain.asciiDomain).key")
    }

    /// The path of the first of these programs that is there.
    static func find(_ paths: String...) -> String? {
        paths.first { FileProbe.isExecutable($0) }
    }
}
