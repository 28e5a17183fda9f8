// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing

@testable import XMPPTransport

@Suite("Documents that a domain publishes (RFC 8615)", .timeLimit(.minutes(2)))
struct WebDocumentTests {
    /// Lends the end of one connection, and notes what is gone to.
    private struct OneServer: StreamConnector {
        let end: SocketTransport
        let visits = Locked<[ConnectionTarget]>([])

        func targets(for domain: String, override: ConnectionTarget?) async throws(ConnectError) -> [ConnectionTarget] {
            []
        }

        func connect(
            to target: ConnectionTarget, on executor: StreamExecutor
        ) async throws(ConnectError) -> any ByteTransport {
            visits.withLock { $0.append(target) }
            return end
        }
    }

    /// Asks a web server that has a certificate for `name` and answers in this way, whatever it is asked.
    private func get(
        _ answer: String, name: String = "example.org", of host: String = "example.org"
    ) async throws -> (Result<WebDocument.Contents, WebDocument.Failure>, request: String, visits: [ConnectionTarget]) {
        let root = try TestAuthority.root()
        let leaf = try TestAuthority(
            TestCertificateRequest(
                alternativeNames: DER.sequence([
                    SocketAddress(literal: name, port: 0).map { DER.address($0.hostBytes) } ?? DER.dns(name)
                ])), issuer: root)
        let (ours, theirs) = (StreamExecutor(label: "test.client"), StreamExecutor(label: "test.web"))
        let (client, server) = try SocketPair.transports(on: ours, and: theirs)
        let tls = try TLSTransport(
            over: server,
            context: .server(certificate: .bytes(leaf.pem), privateKey: .bytes(leaf.key.pem)), role: .server,
            mode: .direct)
        let request = Locked<[UInt8]>([])
        theirs.run {
            tls.handshake(timeout: .seconds(60)) { result in
                guard case .success = result else { return }
                tls.start { event in
                    guard case .received(let bytes) = event else { return }
                    request.withLock { $0 += bytes }
                    guard request.withLock({ $0.suffix(4) == Array("\r\n\r\n".utf8)[...] }) else { return }
                    tls.send(Array(answer.utf8))
                    tls.close()
                }
            }
        }
        let connector = OneServer(end: client)
        let document = WebDocument(
            host: host, path: "/x", mediaType: "application/json", connector: connector,
            context: try .client(trust: .pem(root.pem)))
        let result: Result<WebDocument.Contents, WebDocument.Failure>
        do throws(WebDocument.Failure) {
            result = .success(try await document.get(on: ours, timeout: .seconds(60)))
        } catch {
            result = .failure(error)
        }
        theirs.run { tls.abort() }
        let text = request.withLock { String(decoding: $0, as: UTF8.self) }
        return (result, text, connector.visits.withLock { $0 })
    }

    @Test("the document is asked for by its host and kind, on a connection for it alone (RFC 9112 §3.2)")
    func whole() async throws {
        let (result, request, visits) = try await get("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc")
        #expect(try result.get() == WebDocument.Contents(bytes: Array("abc".utf8), mediaType: nil))
        #expect(request.hasPrefix("GET /x HTTP/1.1\r\nHost: example.org\r\nAccept: application/json\r\n"))
        #expect(visits.map(\.authority) == ["example.org:443"])
    }

    @Test(
        "an IPv6 address has brackets in the field Host, any other host has none (RFC 9110 §7.2, RFC 3986 §3.2.2)",
        arguments: [("2001:db8::1", "[2001:db8::1]"), ("192.0.2.1", "192.0.2.1")])
    func literal(host: String, field: String) async throws {
        let (result, request, _) = try await get(
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", name: host, of: host)
        #expect(try result.get().bytes == Array("abc".utf8))
        #expect(request.hasPrefix("GET /x HTTP/1.1\r\nHost: \(field)\r\n"), "\(request)")
    }

    @Test(
        "another status is no document: a redirection is followed nowhere, to no other host and not to http",
        arguments: [
            (301, "http://example.org/x"), (302, "https://example.net/x"), (307, "/y"), (404, nil), (500, nil),
            (204, nil),
        ])
    func status(code: Int, location: String?) async throws {
        let field = location.map { "Location: \($0)\r\n" } ?? ""
        let (result, _, visits) = try await get("HTTP/1.1 \(code) x\r\n\(field)Content-Length: 0\r\n\r\n")
        #expect(result == .failure(.status(code, location: location)))
        #expect(visits.count == 1)
    }

    @Test(
        "the kind of a document is told without its parameters, once or not at all (RFC 9110 §8.3)",
        arguments: [
            ("Content-Type: application/json\r\n", "application/json"),
            ("content-type: Application/XRD+XML ; charset=\"UTF-8\"\r\n", "application/xrd+xml"),
            ("Content-Type:\r\n", nil), ("Content-Type: ;x=y\r\n", nil), ("", nil),
            ("Content-Type: text/html\r\nContent-Type: text/plain\r\n", nil),
        ])
    func mediaType(fields: String, expected: String?) async throws {
        let (result, _, _) = try await get("HTTP/1.1 200 OK\r\n\(fields)Content-Length: 1\r\n\r\nx")
        #expect(try result.get().mediaType == expected)
    }

    @Test(
        "what is no answer, is cut off or has no end is none",
        arguments: [
            "220 mail ready\r\n\r\n", "<stream:stream>\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "",
            "HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: WebDocument.maximumBytes),
        ])
    func malformed(answer: String) async throws {
        #expect(try await get(answer).0 == .failure(.malformed))
    }

    @Test("a web server that cannot prove the host is told nothing, not even what is asked for")
    func impostor() async throws {
        let (result, request, _) = try await get("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", name: "example.net")
        guard case .failure(.insecure(.certificateNameMismatch)) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(request.isEmpty)
    }
}
