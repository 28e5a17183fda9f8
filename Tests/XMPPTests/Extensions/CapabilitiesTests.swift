// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCrypto
import XMPPTestSupport

@testable import XMPP

@Suite("Capabilities are believed when their hash fits (XEP-0115 §5.4, XEP-0390 §4.4)")
struct CapabilitiesTests {
    private static let information = DiscoveryInformation(
        identities: [.init(category: "client", type: "phone")], features: ["urn:example:a", "urn:example:b"])

    /// The claim of a presence with a hash over some information.
    private static func claim(
        _ rules: CapabilityClaim.Rules, over information: DiscoveryInformation
    ) throws -> CapabilityClaim {
        var presence = Presence()
        switch rules {
        case .entityCapabilities:
            presence.setPayload(
                EntityCapabilities(
                    node: "urn:x", hash: "sha-256",
                    verification: try #require(information.verificationString(using: .sha256))))
        case .entityCapabilities2:
            presence.setPayload(try #require(CapabilityHashSet.advertised(information)))
        }
        return try #require(CapabilityClaim.claims(of: presence).first)
    }

    @Test(
        "a hash that does not fit is not remembered",
        arguments: [CapabilityClaim.Rules.entityCapabilities, .entityCapabilities2])
    func mismatch(rules: CapabilityClaim.Rules) throws {
        let cache = CapabilitiesCache()
        let claim = try Self.claim(rules, over: Self.information)
        var other = Self.information
        other.features.append("urn:example:c")
        cache.store(other, for: claim)
        #expect(cache[claim] == nil)
        cache.store(Self.information, for: claim)
        #expect(cache[claim] == Self.information)
    }

    @Test("what one kind of hash has shown is no evidence for the other kind (XEP-0390 §6)")
    func kinds() throws {
        let cache = CapabilitiesCache()
        cache.store(Self.information, for: try Self.claim(.entityCapabilities, over: Self.information))
        let other = try Self.claim(.entityCapabilities2, over: Self.information)
        #expect(cache[other] == nil)
    }

    @Test("so many hashes are remembered, the latest ones")
    func limit() throws {
        let cache = CapabilitiesCache()
        let all = try (0...CapabilitiesCache.maximumEntries).map { number in
            let information = DiscoveryInformation(identities: [], features: ["urn:example:\(number)"])
            let claim = try Self.claim(.entityCapabilities2, over: information)
            cache.store(information, for: claim)
            return claim
        }
        let last = try #require(all.last)
        #expect(cache[all[0]] == nil && cache[all[1]] != nil && cache[last] != nil)
    }

    @Test(
        "information that is larger than usual ones are by far is not remembered, as somebody else chooses how large it is"
    )
    func size() throws {
        let cache = CapabilitiesCache()
        for (bytes, isKept) in [(4_000, true), (CapabilitiesCache.maximumEntryBytes, false)] {
            let information = DiscoveryInformation(
                identities: [], features: ["urn:example:" + String(repeating: "x", count: bytes)])
            let claim = try Self.claim(.entityCapabilities2, over: information)
            cache.store(information, for: claim)
            #expect((cache[claim] != nil) == isKept)
        }
    }

    @Test("a hash function that nobody knows, or that XEP-0300 forbids, makes no claim")
    func functions() {
        var presence = Presence()
        presence.setPayload(
            CapabilityHashSet([.init(algorithm: "sha-1", value: "x"), .init(algorithm: "md5", value: "x")]))
        presence.setPayload(EntityCapabilities(node: "urn:x", hash: "md5", verification: "x"))
        #expect(CapabilityClaim.claims(of: presence).isEmpty)
    }

    @Test("clients that claim the same are asked once; one that lies is believed of nobody else")
    func asking() async throws {
        let session = try await SessionRun()
        let claim = try Self.claim(.entityCapabilities2, over: Self.information)
        let c = "<c xmlns='urn:xmpp:caps'><hash xmlns='urn:xmpp:hashes:2' algo='sha-256'>\(claim.hash)</hash></c>"
        _ = await session.receive(
            ["liar", "phone", "pad"].map { "<presence from='juliet@example.com/\($0)'>\(c)</presence>" }.joined())
        func ask(_ resource: String, _ answered: DiscoveryInformation?) async throws -> DiscoveryInformation {
            let before = await session.server.sent().count
            let task = Task { try await session.stream.capabilities(of: JID("juliet@example.com/\(resource)")) }
            if let answered {
                try await Patience.wait(for: "the question") {
                    await session.server.settle()
                    return await session.server.sent().count > before
                }
                let asked = try #require(await session.server.sent().last)
                #expect(asked.children.first?["node"] == claim.node)
                let answer = IQ(.result, id: asked["id"], payload: answered.element(node: claim.node))
                var element = answer.element
                element["from"] = "juliet@example.com/\(resource)"
                await session.server.send([try XMLSerializer.serialize(element, defaultNamespace: "jabber:client")[...]]
                )
            }
            let found = try await task.value
            if answered == nil { #expect(await session.server.sent().count == before, "nobody was asked") }
            return found
        }
        let lie = DiscoveryInformation(identities: [], features: ["urn:example:evil"])
        #expect(try await ask("liar", lie).features == ["urn:example:evil"])
        #expect(try await ask("phone", Self.information) == Self.information)
        #expect(try await ask("pad", nil) == Self.information)
        await session.end()
    }
}
