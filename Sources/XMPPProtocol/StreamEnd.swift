// SPDX-License-Identifier: Apache-2.0

package import XMPPCore

/// Why a stream is over.
package enum StreamEnd: Error, Sendable, Equatable {
    /// This side closed it.
    case closed
    /// The server closed it without an error.
    case closedByServer
    /// The server closed it with an error (RFC 6120 §4.9).
    case streamError(StreamError)
    /// The server broke the protocol and was told so; nothing it sent afterwards counts.
    case violation(StreamError)
    /// The server cannot do TLS, or refused to, and nothing was sent that is secret.
    case tlsUnavailable(String)
    /// None of the mechanisms that the server offers may be used.
    case noMechanism(String)
    /// What the server offers of channel binding contradicts itself, or earlier logins: somebody may sit in between.
    case channelBindingContradicted(String)
    /// The server refused the credentials, or could not check them.
    case authenticationRefused(SASLFailure, mechanism: String)
    /// The server broke the rules of the mechanism, or could not prove that it knows the password.
    case serverNotAuthenticated(String, mechanism: String)
    /// No resource could be bound.
    case bindingFailed(BindingFailure)
    /// The server did not answer in time.
    case timedOut(Phase)
    /// The transport ended. The text says how; empty when the server just went away.
    case transportEnded(String)

    /// What the server had not finished when its time ran out.
    package enum Phase: String, Sendable, Equatable {
        /// The negotiation from the stream header to the session.
        case negotiation = "the stream negotiation"
        /// A first-level element that was begun.
        case stanza = "a stanza that it had begun"
        /// An answer to a sign-of-life request.
        case answer = "the answer to a ping"
    }
}
