// SPDX-License-Identifier: Apache-2.0

package import XMPPCore

/// The requests that have no answer yet, and the rule that says which answer belongs to which.
///
/// An answer is one only if its kind, its id and its sender fit the request (RFC 6120 §8.1.2.1, §8.2.3): ids alone can
/// be guessed, and clients that trusted them have been fed forged rosters.
package struct IQTracker: Sendable {
    /// What an IQ of type `result` or `error` is to the open requests.
    package enum Match: Sendable, Equatable {
        /// It answers the request with this id, which is no longer open.
        case answer(id: String)
        /// It answers nothing: it is dropped, and never answered itself.
        case none
    }

    /// The own account's full or bare address, once known.
    package var account: JID

    /// How many requests may be open at once; default 1,000.
    package let maximumOpenRequests: Int

    private var open: [String: JID?] = [:]

    /// Makes a tracker.
    ///
    /// - Parameters:
    ///   - account: The own address: what an answer without `from` comes from.
    ///   - maximumOpenRequests: How many requests may be open at once.
    package init(account: JID, maximumOpenRequests: Int = 1_000) {
        self.account = account
        self.maximumOpenRequests = maximumOpenRequests
    }

    /// The ids of the open requests.
    package var openRequests: [String] { Array(open.keys) }

    /// Notes that a request is about to be sent.
    ///
    /// - Returns: Whether it may be: `false` when its id is in use or too many requests are open.
    package mutating func sending(id: String, to: JID?) -> Bool {
        guard open[id] == nil, open.count < maximumOpenRequests else { return false }
        open[id] = .some(to)
        return true
    }

    /// Whether a request has no answer yet.
    package func isOpen(id: String) -> Bool { open[id] != nil }

    /// Notes that nobody waits for the answer any more.
    package mutating func forget(id: String) {
        open[id] = nil
    }

    /// Notes that the stream ended: nothing will be answered any more.
    ///
    /// - Returns: The ids of the requests that were open.
    package mutating func streamEnded() -> [String] {
        defer { open = [:] }
        return openRequests
    }

    /// Finds the request that a received result or error answers.
    package mutating func received(_ iq: IQ) -> Match {
        guard !iq.kind.isRequest, let id = iq.id, let to = open[id], isSender(iq.from, expectedFor: to) else {
            return .none
        }
        open[id] = nil
        return .answer(id: id)
    }

    /// Whether a sender may answer a request with this addressee.
    ///
    /// A request to nobody is one to the own account: its bare address, no address at all, and the own domain (deployed
    /// servers do that) may answer. A request to the own account may also be answered without an address. Everybody
    /// else answers under exactly the address that was asked.
    private func isSender(_ from: JID?, expectedFor to: JID?) -> Bool {
        let own = account.bare
        switch (to, from) {
        case (nil, nil): return true
        case (nil, let from?): return from == own || from == account || from == own.domain
        case (let to?, nil): return to == own || to == account
        case (let to?, let from?): return to == from
        }
    }
}
