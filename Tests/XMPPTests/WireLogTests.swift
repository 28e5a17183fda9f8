// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPXML

@testable import XMPP

@Suite("What the log of the wire leaves out")
struct WireLogTests {
    @Test(
        "no secret is in the log, in a stanza as little as in a login",
        arguments: [
            "<authenticate xmlns='urn:xmpp:sasl:2' mechanism='X'><user-agent id='SECRET'><software>s</software></user-agent></authenticate>",
            "<message xmlns='jabber:client'><x xmlns='jabber:x:conference' jid='a@b' password='SECRET'/></message>",
            "<message xmlns='jabber:client'><x xmlns='http://jabber.org/protocol/muc#user'><password>SECRET</password></x></message>",
            "<presence xmlns='jabber:client'><x xmlns='http://jabber.org/protocol/muc'><password>SECRET</password></x></presence>",
            "<iq xmlns='jabber:client' type='set'><query xmlns='http://jabber.org/protocol/muc#owner'><destroy><password>SECRET</password></destroy></query></iq>",
            "<iq xmlns='jabber:client' type='set'><query xmlns='jabber:iq:register'><password>SECRET</password></query></iq>",
            "<iq xmlns='jabber:client' type='set'><query xmlns='jabber:iq:register'><key>SECRET</key></query></iq>",
            "<iq xmlns='jabber:client' type='set'><preauth xmlns='urn:xmpp:pars:0' token='SECRET'/></iq>",
            "<iq xmlns='jabber:client' type='result'><x xmlns='jabber:x:data' type='result'><field var='uri'><value>SECRET</value></field></x></iq>",
            "<iq xmlns='jabber:client' type='set'><x xmlns='jabber:x:data' type='submit'><field var='p' type='text-private'><value>SECRET</value></field></x></iq>",
        ])
    func masked(xml: String) throws {
        let logged = WireLog.describe(try Element.parse(xml))
        #expect(!logged.contains("SECRET") && logged.contains("(masked)"))
        // Nothing else is lost.
        #expect(logged.replacing("(masked)", with: "SECRET") == (try Element.parse(xml)).description)
    }

    @Test(
        "what is no secret is written as it is, in its order",
        arguments: [
            "<message xmlns='jabber:client' id='1'><body>a</body><x xmlns='urn:x'>b<c/>d</x></message>",
            "<iq xmlns='jabber:client'><x xmlns='jabber:x:data' type='form'><field label='PIN' type='text-private' var='p'><desc>why</desc></field></x></iq>",
        ])
    func kept(xml: String) throws {
        #expect(WireLog.describe(try Element.parse(xml)) == (try Element.parse(xml)).description)
    }
}
