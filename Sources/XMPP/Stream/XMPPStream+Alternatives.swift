// SPDX-License-Identifier: Apache-2.0

internal import JSONText
internal import SocketIO
internal import XMPPTransport

extension XMPPStream {
    /// Whether the domain may say over HTTPS where it is: never where the user has said where to connect to.
    private var asksWebForPlaces: Bool {
        configuration.asksWebForPlaces && connector.reachesWeb && override == nil
    }

    /// The places that the domain has published, as long as that holds (XEP-0487 §4): then DNS is not asked first.
    var publishedPlaces: [ConnectionTarget] {
        guard asksWebForPlaces, configuration.usesHostMeta2,
            let file = configuration.hostMeta.file(
                of: configuration.jid.connectDomain, at: configuration.clock.now)
        else { return [] }
        return places(of: file)
    }

    /// The places that the domain publishes, when every place that DNS names is out of reach: a network may let nothing
    /// but the web through, or have name servers that do not know SRV records.
    ///
    /// Only over HTTPS with a certificate of the domain, only after the places of DNS, and never where the user has
    /// said where to connect to. A place that was reached and is not to be trusted is no reason to look for another
    /// one.
    ///
    /// Web servers have keys of their own: that one is proven by authorities, also where the account names its server's
    /// key.
    ///
    /// - Parameter failures: Why the places of DNS could not be used.
    func alternatives(after failures: [XMPPError]) async -> [ConnectionTarget] {
        guard asksWebForPlaces, failures.allSatisfy(\.isOutOfReach),
            // A domain without an address has no web server either.
            failures.contains(where: { $0.code != .hostNotFound }), !Task.isCancelled, !isDisconnecting
        else { return [] }
        let domain = configuration.jid.connectDomain
        var hasAnswered = true
        var found: JSONObject?
        do throws(WebDocument.Failure) {
            let bytes = try await webDocument(HostMeta2.path, "application/json")
            found = (try? JSONReader.read(bytes))?.objectValue
        } catch {
            hasAnswered = error.isAnswer
        }
        // XEP-0487 §4: with this object in it the file is of that kind, and of XEP-0156 without.
        if configuration.usesHostMeta2, let file = found.flatMap(HostMeta2.init) {
            configuration.hostMeta.note(file, of: domain, at: configuration.clock.now)
            return places(of: file)
        }
        var webSockets = found.map { HostMeta($0).webSockets } ?? []
        // A web server that has no answer to one question has none to the other, and the user waits for the reason.
        if webSockets.isEmpty, hasAnswered, !Task.isCancelled, !isDisconnecting {
            let bytes = try? await webDocument(HostMeta.path, "application/xrd+xml")
            webSockets = bytes.flatMap { HostMeta($0) }?.webSockets ?? []
        }
        if !webSockets.isEmpty { return webSockets.map(ConnectionTarget.init) }
        // XEP-0487 §6: what has lapsed is better than nothing.
        guard configuration.usesHostMeta2, let file = configuration.hostMeta.file(of: domain, at: nil) else {
            return []
        }
        return places(of: file)
    }

    private func places(of file: HostMeta2) -> [ConnectionTarget] {
        var generator = RandomBits(source: configuration.random)
        return file.places(using: &generator)
    }

    /// Gets a document of the domain's web server.
    private func webDocument(_ path: String, _ mediaType: String) async throws(WebDocument.Failure) -> [UInt8] {
        log(.step, "asking https://\(configuration.jid.connectDomain)\(path) for other ways")
        do throws(WebDocument.Failure) {
            return try await configuration.webDocument(path, mediaType, over: connector, on: executor).bytes
        } catch {
            log(.step, "none: \(error)")
            throw error
        }
    }
}

extension XMPPConfiguration {
    /// Whether what XEP-0487 says is of use. What is to be proven by DNS has to be named by DNS.
    var usesHostMeta2: Bool { trust != .dane }

    /// Gets a document of the domain's web server.
    func webDocument(
        _ path: String, _ mediaType: String, over connector: any StreamConnector, on executor: StreamExecutor
    ) async throws(WebDocument.Failure) -> WebDocument.Contents {
        let context: TLSContext
        do {
            context = try tlsContexts.context(trusting: webTrustAnchors)
        } catch {
            throw .insecure(error)
        }
        let document = WebDocument(
            host: jid.connectDomain, path: path, mediaType: mediaType, connector: connector, context: context,
            clock: clock)
        return try await document.get(on: executor, timeout: timeouts.tls)
    }
}

extension WebDocument.Failure {
    /// Whether there was a web server that said something, be it of no use.
    fileprivate var isAnswer: Bool {
        switch self {
        case .status, .malformed: true
        case .unreachable, .insecure, .timedOut: false
        }
    }
}

extension XMPPError {
    /// Whether nobody was reached.
    fileprivate var isOutOfReach: Bool {
        switch code {
        case .hostNotFound, .connectionFailed, .timedOut, .connectionLost: true
        default: false
        }
    }
}
