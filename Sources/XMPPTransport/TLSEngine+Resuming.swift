// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

extension TLSEngine {
    /// Offers the server a session of an earlier connection, where there is one.
    ///
    /// The server shows no certificate when it resumes a session. So that of the session is validated once more, as if
    /// it had just been shown: what has expired meanwhile, or is not trusted any more, gets no second connection by way
    /// of the first.
    func offerSession() {
        defer { hasOfferedSession = SSL_get_session(ssl) != nil }
        guard let sessionKey, let session = context.sessions.take(for: sessionKey) else { return }
        guard SSL_set_session(ssl, session.handle) == 1, TLSVerification.isStillAccepted(by: self) else {
            _ = SSL_set_session(ssl, nil)
            context.sessions.forget(sessionKey)
            verificationError = nil
            notePath(nil)
            ERR_clear_error()
            return
        }
    }

    /// Keeps a session that the server is ready to resume.
    ///
    /// One of TLS 1.2 without extended master secret is none: what it is bound to could be another's (RFC 7677 §4, RFC
    /// 7627). A copy is kept: OpenSSL takes the session of a connection that ends without a goodbye for spoilt.
    func keep(_ session: OpaquePointer) {
        guard let sessionKey, SSL_SESSION_is_resumable(session) == 1,
            SSL_version(ssl) >= TLS1_3_VERSION || shim_SSL_get_extms_support(ssl) == 1,
            let copy = SSL_SESSION_dup(session)
        else { return }
        context.sessions.keep(TLSSession(owning: copy), for: sessionKey)
    }

    /// The handshake is done. A session of TLS 1.2 came with it, and one that was resumed may be so again; those of TLS
    /// 1.3 come later, another one each time, so that nobody sees the same one twice (RFC 8446 Appendix C.4).
    func keepEarlySession() {
        guard SSL_version(ssl) < TLS1_3_VERSION, let session = SSL_get_session(ssl) else { return }
        keep(session)
    }

    /// Something went wrong: no session of this peer is offered again.
    func forgetSessions() {
        if let sessionKey { context.sessions.forget(sessionKey) }
    }
}
