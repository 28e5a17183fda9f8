// SPDX-License-Identifier: Apache-2.0

import JSONText
import SocketIO
import Testing
import XMPPCrypto
import XMPPTestSupport
import XMPPTransport

@testable import XMPP

@Suite("What a survey says of host-meta (XEP-0487, XEP-0156)", .timeLimit(.minutes(3)))
struct PublicationTests {
    private typealias Publication = ServerSurvey.Publication

    private static let socket = "wss://127.0.0.1:{port}/xmpp-websocket"
    private static let places = """
        {"xmpp":{"ttl":600,"public-key-pins-sha-256":[]},"links":[
         {"rel":"urn:xmpp:alt-connections:tls","port":{directTLSPort},"ips":["127.0.0.1"],"priority":4,"weight":1,
          "sni":"example.net"},
         {"rel":"urn:xmpp:alt-connections:quic","port":443,"ips":["127.0.0.1"],"priority":1,"weight":1,"sni":"a"},
         {"rel":"urn:xmpp:alt-connections:xbosh","href":"https://example.net/bosh"}]}
        """

    /// Takes a survey of a domain whose DNS leads nowhere, and whose web server is as said.
    private func survey(
        _ options: (inout LoopbackOptions) -> Void = { _ in },
        _ change: (inout XMPPConfiguration, inout BlockedNetwork, LoopbackServer) -> Void = { _, _, _ in }
    ) async throws -> ServerSurvey {
        let server = try await verona(options)
        var configuration = try await server.configuration(for: "romeo")
        configuration.host = nil
        configuration.port = nil
        var network = BlockedNetwork(webPort: try #require(server.webSocketPort))
        change(&configuration, &network, server)
        configuration.connector = network
        let survey = await ServerSurvey.take(of: configuration, within: .seconds(120))
        await server.stop()
        #expect(survey.publications.map(\.file) == [.hostMeta2, .hostMeta], "as a login asks")
        return survey
    }

    private func hints(_ survey: ServerSurvey) -> [SurveyAdvice] {
        survey.advice().filter { $0.subject.hasPrefix("https://example.net/.well-known/host-meta") }
    }

    @Test("what the files name is told, and its places are looked at like those of DNS")
    func found() async throws {
        let survey = try await survey {
            $0.publishedPlaces = Self.places
            $0.publishedWebSocket = Self.socket
        }
        let (json, xml) = (survey.publications[0], survey.publications[1])
        #expect(json.state == .found && json.reason == nil && json.mediaType == "application/json" && json.hasBOSH)
        #expect(json.lifetime == .seconds(600) && json.pinnedKeys.isEmpty && json.webSockets.isEmpty)
        let place = try #require(json.places.first)
        #expect(json.places.count == 1 && place.place.way == .directTLS, "what is not known is no fault")
        #expect(
            place.place.endpoint.hasPrefix("127.0.0.1:") && place.priority == 4 && place.serverName == "example.net")
        #expect(xml.state == .found && xml.reason == nil && xml.mediaType == "application/xrd+xml" && !xml.hasBOSH)
        #expect(xml.webSockets.count == 1 && xml.lifetime == nil && xml.places.isEmpty)
        #expect(survey.endpoints.map(\.place.way) == [.startTLS, .directTLS, .webSocket])
        #expect(survey.endpoints.map(\.isUsable) == [false, true, true], "\(survey.endpoints.map(\.error))")
        #expect(hints(survey).isEmpty, "\(hints(survey))")
    }

    @Test("without the object of XEP-0487 the file in JSON is one of XEP-0156 (XEP-0487 §4)")
    func older() async throws {
        let link = #"{"rel":"urn:xmpp:alt-connections:websocket","href":"\#(Self.socket)"}"#
        let survey = try await survey { $0.publishedPlaces = #"{"links":[\#(link)]}"# }
        let json = survey.publications[0]
        #expect(json.state == .found && json.reason == nil && json.webSockets.count == 1 && json.lifetime == nil)
        #expect(survey.publications[1].state == .absent)
        #expect(survey.endpoints.map(\.place.way) == [.startTLS, .webSocket])
    }

    @Test("a key that the file names has to be the server's, and the places are looked at with it (XEP-0487 §4)")
    func pins() async throws {
        let key = [UInt8](repeating: 7, count: 32)
        let survey = try await survey {
            $0.publishedPlaces = Self.places.replacing("[]}", with: "[\"\(Base64.encode(key))\"]}")
        }
        #expect(survey.publications[0].pinnedKeys == [try #require(KeyFingerprint(key))])
        let endpoint = try #require(survey.endpoints.first { $0.place.way == .directTLS })
        #expect(endpoint.error?.certificateFault == .key, "\(endpoint)")
    }

    @Test("nobody asks where that is switched off, or no web server can be reached")
    func notAsked() async throws {
        let off = try await survey({ $0.publishedPlaces = Self.places }) { configuration, _, _ in
            configuration.asksWebForPlaces = false
        }
        let cut = try await survey({ $0.publishedPlaces = Self.places }) { _, network, _ in network.reachesWeb = false }
        for (survey, words) in [(off, "does not ask"), (cut, "no way to web servers")] {
            #expect(survey.publications.allSatisfy { $0.state == .notAsked && $0.reason?.contains(words) == true })
            #expect(survey.endpoints.map(\.place.way) == [.startTLS] && hints(survey).isEmpty)
        }
    }

    @Test("no file is no fault: the web server says so, sends on to another place, or is not there")
    func none() async throws {
        let absent = try await survey()
        #expect(absent.publications.allSatisfy { $0.state == .absent && $0.reason?.contains("404") == true })
        let elsewhere = try await survey {
            $0.publishedPlaces = Self.places
            $0.publishedWebSocket = Self.socket
            $0.publishedRedirection = "https://www.example.net/"
        }
        #expect(
            elsewhere.publications.allSatisfy {
                $0.state == .absent && $0.reason?.contains("https://www.example.net/") == true
            })
        let nobody = try await survey({ _ in }) { _, network, _ in network.webPort = 1 }
        #expect(nobody.publications.allSatisfy { $0.state == .unreachable && $0.reason != nil })
        for survey in [absent, elsewhere, nobody] { #expect(hints(survey).isEmpty) }
    }

    @Test("something else in its place is told as what the web server calls it (RFC 6415 §2)")
    func wrongType() async throws {
        let survey = try await survey {
            $0.publishedPlaces = "<!DOCTYPE html><html/>"
            $0.publishedWebSocket = "'><p>"
            $0.publishedMediaType = "text/html; charset=utf-8"
        }
        for (file, words) in zip(survey.publications, ["no JSON", "no XRD"]) {
            #expect(file.state == .wrongType && file.mediaType == "text/html")
            #expect(file.reason?.contains(words) == true && file.reason?.contains("text/html") == true, "\(file)")
        }
        #expect(hints(survey).count == 2 && hints(survey).allSatisfy { $0.remedy.contains("404") })
    }

    @Test("a web server without TLS, and one that sends on to a place without it, are not believed (XEP-0156 §3)")
    func notHTTPS() async throws {
        let clear = try await survey({ $0.publishedPlaces = Self.places }) { _, network, server in
            network.webPort = server.port
        }
        let redirected = try await survey {
            $0.publishedPlaces = Self.places
            $0.publishedWebSocket = Self.socket
            $0.publishedRedirection = "HTTP://example.net/"
        }
        for survey in [clear, redirected] {
            #expect(survey.publications.map(\.state) == [.notHTTPS, .notHTTPS], "\(survey.publications)")
            #expect(survey.endpoints.map(\.place.way) == [.startTLS])
            #expect(hints(survey).allSatisfy { $0.remedy.contains("over HTTPS") } && hints(survey).count == 2)
        }
    }

    @Test(
        "a web server that cannot prove the domain is not believed, and its places are not gone to (XEP-0487 §4)",
        arguments: [
            (nil, .wrongName, "made out to"), (.expired, .untrusted, "expired"),
            (.selfSigned, .untrusted, "self-signed"),
            (.unknownAuthority, .untrusted, "not trusted"),
        ] as [(TestCertificate.Flaw?, ServerSurvey.Publication.State, String)])
    func certificates(flaw: TestCertificate.Flaw?, state: ServerSurvey.Publication.State, words: String) async throws {
        let survey = try await survey {
            $0.publishedPlaces = Self.places
            $0.publishedWebSocket = Self.socket
            $0.certificateFlaw = flaw
            if flaw == nil { $0.certificateNames = [.dns("example.com")] }
        }
        for file in survey.publications {
            #expect(file.state == state && file.reason?.contains(words) == true, "\(file)")
            #expect(file.webSockets.isEmpty && file.places.isEmpty && file.lifetime == nil)
        }
        #expect(survey.endpoints.map(\.place.way) == [.startTLS])
        #expect(hints(survey).count == 2 && hints(survey).allSatisfy { $0.remedy.contains("certificate") })
    }

    @Test("links into the clear, incomplete ones, and an object that is none of XEP-0487 are told, and passed over")
    func faulty() async throws {
        let clear = try await survey {
            $0.publishedPlaces = Self.places.replacing("\"priority\":4,", with: "")
            $0.publishedWebSocket = "ws://example.net/ws"
        }
        #expect(clear.publications.map(\.state) == [.found, .found])
        #expect(clear.publications[0].reason == "1 link is incomplete, and passed over")
        #expect(clear.publications[1].reason == "1 link is not inside of TLS, and passed over")
        #expect(hints(clear).count == 2 && hints(clear).allSatisfy { $0.remedy == "correct the file" })
        let odd = try await survey { $0.publishedPlaces = Self.places.replacing("600", with: "\"600\"") }
        #expect(odd.publications[0].state == .found && odd.publications[0].lifetime == nil)
        #expect(odd.publications[0].reason?.contains("XEP-0487") == true && hints(odd).count == 1)
        #expect(odd.endpoints.map(\.place.way) == [.startTLS])
    }

    @Test("a file that is served as another kind of document is heeded, and there is a hint (RFC 6415 §2, §3)")
    func mislabelled() async throws {
        let survey = try await survey {
            $0.publishedPlaces = Self.places
            $0.publishedWebSocket = Self.socket
            $0.publishedMediaType = "application/octet-stream"
        }
        #expect(survey.publications.map(\.state) == [.found, .found] && survey.endpoints.count == 3)
        #expect(hints(survey).map(\.remedy.words) == [["application/json"], ["application/xrd+xml"]])
    }

    @Test("where DNS has to prove the server, the file says that it is passed over, and its places are not gone to")
    func dane() async throws {
        let survey = try await survey({ $0.publishedPlaces = Self.places }) { configuration, _, _ in
            configuration.trust = .dane
        }
        #expect(survey.publications[0].state == .found && survey.publications[0].places.count == 1)
        #expect(survey.publications[0].reason?.contains("DNS has to prove") == true)
        #expect(survey.endpoints.map(\.place.way) == [.startTLS] && hints(survey).isEmpty)
    }
}

extension String {
    /// The kinds of documents that are in it.
    fileprivate var words: [String] { split(separator: " ").map(String.init).filter { $0.hasPrefix("application/") } }
}
