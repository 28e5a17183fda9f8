// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPTransport

/// The TLS contexts of a configuration and its copies: one for each set of trust anchors and client certificate, made
/// when first needed.
package final class TLSContextCache: Sendable {
    private struct Key: Hashable {
        let anchors: TrustAnchors
        let identity: TLSIdentity?
    }

    private let contexts = Locked<[Key: TLSContext]>([:])

    /// Makes an empty cache.
    package init() {}

    /// The context for what to trust, and a certificate to show.
    func context(
        trusting anchors: TrustAnchors, certificate: ClientCertificate? = nil
    ) throws(TLSError) -> TLSContext {
        let key = Key(anchors: anchors, identity: certificate?.identity)
        let known = contexts.withLock { $0[key] }
        if let known { return known }
        let context = try TLSContext.client(trust: key.anchors, identity: key.identity)
        return contexts.withLock { contexts in
            if let known = contexts[key] { return known }
            contexts[key] = context
            return context
        }
    }
}
