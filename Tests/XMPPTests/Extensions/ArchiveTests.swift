// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPTestSupport
import XMPPXML

@testable import XMPP

@Suite("The archive of the account (XEP-0313)", .timeLimit(.minutes(5)))
struct ArchiveTests {
    private func archived(_ count: Int) async throws -> (LoopbackServer, XMPPStream) {
        let server = try await verona { $0.offersArchive = true }
        let stream = XMPPStream(try await server.configuration(for: "romeo", resource: "orchard"))
        try await stream.connect()
        for number in 0..<count {
            try await stream.send(
                Message(
                    to: try JID(number.isMultiple(of: 2) ? "juliet@example.net" : "nurse@example.net"),
                    body: "\(number)"))
        }
        try await stream.waitUntilHandled()
        return (server, stream)
    }

    @Test("A page has so many messages as were asked for, and so many bytes as a page may have; one more is a failure")
    func excess() throws {
        let result = try #require(
            ArchiveResult(
                Element.parse(
                    "<result xmlns='urn:xmpp:mam:2' id='1'><forwarded xmlns='urn:xmpp:forward:0'>"
                        + "<delay xmlns='urn:xmpp:delay' stamp='2026-01-01T00:00:00Z'/>"
                        + "<message xmlns='jabber:client' from='juliet@example.net'><body>x</body></message>"
                        + "</forwarded></result>")))
        var counted = ArchiveCollector(archive: nil, requestID: "r", maximum: 2)
        for _ in 0..<2 { counted.add(result, bytes: 1) }
        #expect(counted.excess == nil && counted.results.count == 2)
        counted.add(result, bytes: 1)
        #expect(counted.excess?.contains("2 messages") == true && counted.results.count == 2)
        var weighed = ArchiveCollector(archive: nil, requestID: "r", maximum: 50)
        for _ in 0..<2 { weighed.add(result, bytes: XMPPStream.maximumArchivePageBytes / 2) }
        #expect(weighed.excess == nil)
        weighed.add(result, bytes: 1)
        #expect(weighed.excess?.contains("67108864 bytes") == true && weighed.results.count == 2)
        weighed.add(result, bytes: 0)
        #expect(weighed.results.count == 2, "nothing is left out in the middle")
    }

    @Test("Messages come oldest first, page by page, each once", arguments: [1, 3, 7, 50])
    func pages(_ size: Int) async throws {
        let (server, stream) = try await archived(7)
        var bodies: [String?] = []
        for try await result in stream.archive(pageSize: size) { bodies.append(result.message.body) }
        #expect(bodies == (0..<7).map(String.init))
        await stream.disconnect()
        await server.stop()
    }

    @Test("A filter and a known message leave out what is not wanted")
    func filter() async throws {
        let (server, stream) = try await archived(6)
        let nurse = ArchiveFilter(with: try JID("nurse@example.net"))
        var results: [ArchiveResult] = []
        for try await result in stream.archive(nurse) { results.append(result) }
        #expect(results.map(\.message.body) == ["1", "3", "5"])
        var later: [String?] = []
        for try await result in stream.archive(after: results[1].id) { later.append(result.message.body) }
        #expect(later == ["4", "5"])
        let future = ArchiveFilter(since: DateTime(millisecondsSinceEpoch: 4_102_444_800_000))
        #expect(try await stream.archivePage(future).results.isEmpty)
        await #expect(throws: XMPPError.self) {
            try await stream.archivePage(page: ResultSetRequest(.after("nobody knows")))
        }
        await stream.disconnect()
        await server.stop()
    }

    @Test("What calls itself a result is never a message, whoever sends it (XEP-0313 §8.2)")
    func unasked() async throws {
        let (server, stream) = try await archived(0)
        let messages = stream.messages
        var fake = Message(to: try JID("romeo@example.net/orchard"), body: "trust me")
        fake.append(Element("result", namespace: ArchiveFilter.namespace, attributes: ["queryid": "q", "id": "1"]))
        try await server.send(fake, as: "juliet")
        try await server.send(Message(to: try JID("romeo@example.net/orchard"), body: "real"), as: "juliet")
        for try await message in messages {
            #expect(message.body == "real")
            break
        }
        await stream.disconnect()
        await server.stop()
    }

    @Test("An archive that goes in circles is left, with its name for it", arguments: [1, 2, 7, 50])
    func circles(_ size: Int) async throws {
        let (server, stream) = try await archived(7)
        await server.changeOptions { $0.archiveGoesInCircles = true }
        var count = 0
        do throws(XMPPError) {
            for try await _ in stream.archive(pageSize: size) { count += 1 }
            Issue.record("it ended after \(count)")
        } catch {
            #expect(error.code == .protocolViolation)
        }
        #expect(count == min(size, 7), "the second page is known to be the first")
        #expect(await stream.isEstablished)
        await stream.disconnect()
        await server.stop()
    }

    @Test("A form says what is wanted (XEP-0313 §4.1)")
    func form() throws {
        let filter = ArchiveFilter(
            with: try JID("juliet@capulet.lit"), since: DateTime("2010-06-07T00:00:00Z"),
            until: DateTime("2010-07-07T13:23:54Z"))
        let expected = try Element.parse(
            """
            <x xmlns='jabber:x:data' type='submit'><field var='FORM_TYPE' type='hidden'><value>urn:xmpp:mam:2</value></field>\
            <field var='with'><value>juliet@capulet.lit</value></field>\
            <field var='start'><value>2010-06-07T00:00:00.000Z</value></field>\
            <field var='end'><value>2010-07-07T13:23:54.000Z</value></field></x>
            """)
        let fields = { (element: Element) in
            Dictionary(
                element.children.map { ($0["var"] ?? "", $0.children.map(\.text)) }, uniquingKeysWith: { $1 })
        }
        #expect(fields(filter.form.element) == fields(expected))
        #expect(filter.form.element["type"] == "submit")
    }
}
