// SPDX-License-Identifier: Apache-2.0

internal import XMPPTransport

extension XMPPStream {
    /// The WebSockets that the domain publishes (XEP-0156), when every place that DNS names is out of reach: a network may let
    /// nothing but the web through.
    ///
    /// Only over HTTPS with a certificate of the domain, only after the places of DNS, and never where the user has said where
    /// to connect to. A place that was reached and is not to be trusted is no reason to look for another one.
    ///
    /// Web servers have keys of their own: that one is proven by authorities, also where the account names its server's key.
    ///
    /// - Parameter failures: Why the places of DNS could not be used.
    func alternatives(after failures: [XMPPError]) async -> [ConnectionTarget] {
        guard configuration.findsWebSockets, connector.reachesWeb, configuration.host == nil,
            configuration.webSocket == nil, failures.allSatisfy(\.isOutOfReach),
            // A domain without an address has no web server either.
            failures.contains(where: { $0.code != .hostNotFound }), !Task.isCancelled, !isDisconnecting,
            let context = try? configuration.tlsContexts.context(trusting: configuration.webTrustAnchors)
        else { return [] }
        let domain = configuration.jid.connectDomain
        log(.step, "asking https://\(domain)\(HostMeta.path) for other ways")
        let document = WebDocument(
            host: domain, path: HostMeta.path, connector: connector, context: context, clock: configuration.clock)
        do throws(WebDocument.Failure) {
            let bytes = try await document.get(on: executor, timeout: configuration.timeouts.tls)
            return HostMeta(bytes)?.webSockets.map(ConnectionTarget.init) ?? []
        } catch {
            log(.step, "none: \(error)")
            return []
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
