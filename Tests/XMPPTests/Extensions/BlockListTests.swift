// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP
import XMPPCore
import XMPPTestSupport

@Suite("Blocking, and what the operator is told")
struct BlockListTests {
    @Test(
        "a report goes along where the server takes reports, and else it is known that none did (XEP-0377 §4)",
        arguments: [true, false])
    func report(isTaken: Bool) async throws {
        let feature = isTaken ? "<feature var='urn:xmpp:reporting:1'/>" : ""
        let scene = try await Scene(
            """
            #! prelude online
            #! await disco#info
            <iq type='result' id='{id}' from='example.org'>\
            <query xmlns='http://jabber.org/protocol/disco#info'>\(feature)</query></iq>
            #! await <block
            <iq type='result' id='{id}'/>
            """
        ) { stream in
            let isReported = try await stream.block(JID("eve@example.com"), report: AbuseReport(.spam))
            #expect(isReported == isTaken)
        }
        let sent = try await scene.sent()
        let block = try #require(sent.first { $0.contains("<block") })
        #expect(block.contains("urn:xmpp:reporting:spam") == isTaken)
        await scene.close()
    }
}
