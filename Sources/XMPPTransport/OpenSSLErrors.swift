// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The errors that OpenSSL left behind on this thread.
struct OpenSSLErrors {
    /// Reasons of the SSL library, the oldest first.
    let reasons: [Int32]
    /// The reasons in OpenSSL's words.
    let text: String

    /// Takes every error off the thread's queue, so that none is blamed on a later call.
    static func drain() -> OpenSSLErrors {
        var reasons: [Int32] = []
        var texts: [String] = []
        while true {
            let code = ERR_get_error()
            guard code != 0 else { break }
            if ERR_GET_LIB(code) == ERR_LIB_SSL { reasons.append(ERR_GET_REASON(code)) }
            // "system lib" only says that the reason before it came from the system.
            guard let words = ERR_reason_error_string(code).map(String.init(cString:)) else { continue }
            if words != "system lib" || texts.isEmpty { texts.append(words) }
        }
        return OpenSSLErrors(reasons: reasons, text: texts.isEmpty ? "no reason given" : texts.joined(separator: "; "))
    }

    /// The error of a handshake that OpenSSL gave up.
    var handshakeError: TLSError {
        for reason in reasons {
            switch reason {
            case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST, SSL_R_UNKNOWN_PROTOCOL,
                SSL_R_PACKET_LENGTH_TOO_LONG, SSL_R_BAD_RECORD_TYPE:
                return .notTLS
            case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, SSL_R_VERSION_TOO_LOW,
                SSL_R_UNSUPPORTED_SSL_VERSION:
                return .versionTooOld
            default: continue
            }
        }
        return .handshakeFailed(reason: text)
    }
}
