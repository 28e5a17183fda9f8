// SPDX-License-Identifier: Apache-2.0

import JabberControl
import Testing
import XMPP

@testable import JabberDaemon

@Suite("An account's settings as the library wants them")
struct SessionSettingsTests {
    private func settings(
        _ jid: String, _ change: (inout AccountConfiguration) -> Void = { _ in }
    ) throws -> SessionSettings {
        var account = AccountConfiguration(name: "home", jid: jid)
        change(&account)
        return try SessionSettings(account)
    }

    @Test("Without more than an address, DNS says where to go and how")
    func plain() throws {
        let settings = try settings("Juliet@Example.org")
        #expect(settings.jid.description == "juliet@example.org")
        #expect(settings.configuration.host == nil && settings.configuration.port == nil)
        #expect(settings.configuration.jid.resourcepart == nil)
        #expect(settings.needsPassword)
    }

    @Test("A host, its port and its TLS override DNS; a port alone means the domain's own host")
    func overrides() throws {
        let direct = try settings("juliet@example.org") { account in
            account.host = "192.0.2.1"
            account.port = 443
            account.tls = .direct
            account.ca = "/etc/ca.pem"
        }.configuration
        #expect(direct.host == "192.0.2.1" && direct.port == 443 && direct.hostSecurity == .directTLS)
        #expect(direct.certificateAuthorityFile == "/etc/ca.pem")
        let port = try settings("juliet@bücher.example") { $0.port = 5_322 }.configuration
        #expect(port.host == "xn--bcher-kva.example" && port.port == 5_322 && port.hostSecurity == .startTLS)
    }

    @Test("A host that is the address of a WebSocket says it all; what is nearly one is told what one looks like")
    func webSocket() throws {
        let address = "wss://example.org:5281/xmpp-websocket"
        let configuration = try settings("juliet@example.org") { $0.host = address }.configuration
        #expect(configuration.webSocket?.description == address && configuration.host == nil)
        for change in [
            { $0.host = "ws://example.org/" }, { $0.host = "https://example.org/ws" },
            { ($0.host, $0.port) = (address, 443) }, { ($0.host, $0.tls) = (address, .direct) },
        ] as [(inout AccountConfiguration) -> Void] {
            let error = try #require(throws: ControlError.self) { try self.settings("juliet@example.org", change) }
            #expect(error.code == .configuration && error.message.contains("the host"))
        }
    }

    @Test("Keys are trusted where they are named, unless authorities are asked for; none at all is exit code 78")
    func trust() throws {
        let pin = String(repeating: "0a", count: 32)
        let key = try #require(KeyFingerprint(pin))
        func trust(_ trust: AccountConfiguration.Trust?, _ pins: [String]) throws -> ServerTrust {
            try settings("juliet@example.org") { ($0.trust, $0.pins) = (trust, pins) }.configuration.trust
        }
        #expect(try trust(nil, []) == .authorities && trust(.pkix, [pin]) == .authorities)
        #expect(try trust(.dane, []) == .dane && trust(.dane, [pin]) == .dane)
        #expect(try trust(nil, [pin]) == .keys([key]) && trust(.pin, [pin]) == .keys([key]))
        let error = try #require(throws: ControlError.self) { try trust(.pin, []) }
        #expect(error.code == .configuration && error.message.contains("--pin"))
    }

    @Test("The domain is asked over HTTPS for other places, unless that is switched off (XEP-0487, XEP-0156)")
    func hostMeta() throws {
        for (word, isAsked) in [(nil, true), (.ask, true), (.never, false)] as [(AccountConfiguration.HostMeta?, Bool)]
        {
            let configuration = try settings("juliet@example.org") { $0.hostMeta = word }.configuration
            #expect(configuration.asksWebForPlaces == isAsked)
        }
    }

    @Test("A resource is asked for; one that is none is exit code 65 (RFC 7622 §3.4)")
    func resource() throws {
        let settings = try settings("juliet@example.org") { $0.resource = "balcony" }
        #expect(settings.configuration.jid.resourcepart == "balcony")
        #expect(settings.jid.isBare)
        let error = try #require(throws: ControlError.self) {
            try self.settings("juliet@example.org") { $0.resource = "" }
        }
        #expect(error.code == .badJID && error.message.contains("resourcepart"))
    }

    @Test("An address without localpart needs no password (SASL ANONYMOUS)")
    func anonymous() throws {
        #expect(try !settings("example.org").needsPassword)
    }
}
