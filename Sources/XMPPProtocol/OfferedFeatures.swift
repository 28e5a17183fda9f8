// SPDX-License-Identifier: Apache-2.0

public import XMPPCore

/// What a server offered on the way to a session. The next login may rely on it and send more at once (XEP-0305,
/// XEP-0388 §2.1), and finds out in time where that was wrong.
public struct OfferedFeatures: Sendable, Hashable {
    /// Before TLS.
    public var beforeTLS: StreamFeatures?
    /// Inside TLS, before the login.
    public var beforeLogin: StreamFeatures?
    /// After the login.
    public var session: StreamFeatures?

    /// Makes a memory of nothing.
    public init() {}
}

extension StreamFeatures {
    /// Whether a login that was made up for other features is one that these lead to: nothing was added that might be
    /// better, nothing is gone that was used. The order means nothing; some servers shuffle.
    func leadToTheSameLogin(as other: StreamFeatures) -> Bool {
        offersSASL == other.offersSASL && Set(mechanisms) == Set(other.mechanisms)
            && offersSASL2 == other.offersSASL2 && Set(sasl2Mechanisms) == Set(other.sasl2Mechanisms)
            && channelBindings.map(Set.init) == other.channelBindings.map(Set.init)
            && offersInlineResumption == other.offersInlineResumption && offersBind2 == other.offersBind2
            && bind2Features == other.bind2Features && Set(tokenMechanisms) == Set(other.tokenMechanisms)
            && offersStartTLS == other.offersStartTLS
    }

    /// Whether a session can be begun with these features as with others.
    func leadToTheSameSession(as other: StreamFeatures) -> Bool {
        offersBind == other.offersBind && requiresSession == other.requiresSession
            && offersStreamManagement == other.offersStreamManagement && unknownRequired.isEmpty
    }
}
