// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPTransport

/// The TLS contexts of a configuration and its copies: one for each set of trust anchors, made when first needed.
package final class TLSContextCache: Sendable {
    private let contexts = Locked<[TrustAnchors: TLSContext]>([:])

    /// Makes an empty cache.
    package init() {}

    /// The context for a file of certificate authorities, or for the system's.
    func context(authorities file: String?) throws(TLSError) -> TLSContext {
        let anchors = file.map(TrustAnchors.file) ?? .system
        let known = contexts.withLock { $0[anchors] }
        if let known { return known }
        let context = try TLSContext.client(trust: anchors)
        return contexts.withLock { contexts in
            if let known = contexts[anchors] { return known }
            contexts[anchors] = context
            return context
        }
    }
}
