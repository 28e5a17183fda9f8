// SPDX-License-Identifier: Apache-2.0

internal import SocketIO

/// Why no connection could be made, with what a person needs to go on.
package enum ConnectError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One address that was tried.
    package struct Attempt: Sendable, Hashable {
        /// The address with its port.
        package let address: String
        /// Why it failed.
        package let reason: String

        /// Makes an attempt.
        package init(address: String, reason: String) {
            self.address = address
            self.reason = reason
        }
    }

    /// The name has no address: the name, and what name servers or the system said.
    case hostNotFound(name: String, detail: String)
    /// It could not be found out which addresses the name has: the name, and what the system said.
    case resolverFailed(name: String, detail: String)
    /// Signatures of DNS answers are wrong or missing, or could not be asked for: the name, and why.
    case notVerifiable(name: String, detail: String)
    /// The domain says by its SRV records that it offers no XMPP to clients.
    case serviceNotAvailable(domain: String)
    /// Every address of a host was tried in vain.
    case allAddressesFailed(host: String, [Attempt])
    /// All addresses of a host were gone to before.
    case noOtherAddress(host: String)
    /// The time for finding addresses was up: what was asked for, and for how long.
    case timedOut(name: String, within: Duration)
    /// There is no way through a proxy: the proxy, the place asked for, and why.
    case proxyFailed(proxy: String, target: String, ProxyError)
    /// The task was cancelled.
    case cancelled

    /// What happened, where, why, and what to do about it.
    package var description: String {
        switch self {
        case .hostNotFound(let name, let detail):
            "host not found: \(PrintableText.clean(name)) (\(detail)); "
                + "check the spelling of the domain and the network's name servers"
        case .resolverFailed(let name, let detail):
            "the addresses of \(PrintableText.clean(name)) cannot be looked up just now (\(detail)); "
                + "check the network and its name servers"
        case .notVerifiable(let name, let detail):
            "what name servers say about \(PrintableText.clean(name)) cannot be verified (\(detail))"
        case .serviceNotAvailable(let domain):
            "\(PrintableText.clean(domain)) announces that it offers no XMPP service to clients"
        case .allAddressesFailed(let host, let attempts):
            (attempts.map(\.address) == [host] ? "" : "tried \(PrintableText.clean(host)) at ")
                + attempts.map { "\($0.address): \($0.reason)" }.joined(separator: "; ")
        case .noOtherAddress(let host):
            "\(PrintableText.clean(host)) has no other address"
        case .timedOut(let name, let time):
            "no answer about \(PrintableText.clean(name)) within \(time.spoken); check the network's name servers"
        case .proxyFailed(let proxy, let target, let error):
            "no way through the proxy \(proxy) to \(PrintableText.clean(target)): \(error)"
        case .cancelled:
            "connecting was called off"
        }
    }
}
