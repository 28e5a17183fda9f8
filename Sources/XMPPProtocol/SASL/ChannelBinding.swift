// SPDX-License-Identifier: Apache-2.0

/// The name of a kind of channel binding data (RFC 5056 §7, XEP-0440): an open vocabulary.
package struct ChannelBindingType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The registered prefix, as XEP-0440 and the GS2 header carry it.
    package let rawValue: String

    /// A type by its registered prefix.
    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Keying material exported from the TLS session (RFC 9266).
    package static let tlsExporter = ChannelBindingType(rawValue: "tls-exporter")
    /// A hash of the server's certificate (RFC 5929 §4).
    package static let tlsServerEndPoint = ChannelBindingType(rawValue: "tls-server-end-point")

    /// The registered prefix.
    package var description: String { rawValue }
}

/// Data that name this very channel, as the transport computed them.
package struct ChannelBindingData: Hashable, Sendable {
    /// What kind of data they are.
    package let type: ChannelBindingType
    /// The data.
    package let bytes: [UInt8]

    /// Data of a kind.
    package init(type: ChannelBindingType, bytes: [UInt8]) {
        self.type = type
        self.bytes = bytes
    }
}

/// What a SCRAM exchange says about channel binding: the GS2 flag with what belongs to it (RFC 5802 §6, §7).
package enum ChannelBinding: Hashable, Sendable {
    /// `n`: we do not support channel binding, or no type that the server has.
    case none
    /// `y`: we do, but the server appears not to; an honest server that does then refuses.
    case unsupportedByServer
    /// `p=`: the exchange is bound to this channel, with a `-PLUS` mechanism.
    case bound(ChannelBindingData)

    /// The kind of data that the exchange is bound to; `nil` for none.
    package var type: ChannelBindingType? {
        switch self {
        case .none, .unsupportedByServer: nil
        case .bound(let data): data.type
        }
    }

    /// The `gs2-cbind-flag`.
    internal var flag: String {
        switch self {
        case .none: "n"
        case .unsupportedByServer: "y"
        case .bound(let data): "p=\(data.type.rawValue)"
        }
    }

    /// What is bound: nothing but for `p=`.
    internal var data: [UInt8] {
        switch self {
        case .none, .unsupportedByServer: []
        case .bound(let data): data.bytes
        }
    }
}
