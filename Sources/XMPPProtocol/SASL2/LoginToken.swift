// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
package import XMPPCrypto

/// A token that a server gave in exchange for a login (XEP-0484): it logs the same installation in again, in one step.
///
/// It is as good as the password until it expires, though with one server, one account and one mechanism only.
public struct LoginToken: Sendable {
    /// The mechanism that it is for; the server takes it with no other.
    public let mechanism: SASLMechanismName
    /// The token, as the server wrote it.
    package let secret: SecretBytes
    /// When it ends.
    public let expiry: DateTime
    /// How many logins were tried with it.
    public var count: UInt32

    /// A token that was received, or kept.
    ///
    /// - Parameters:
    ///   - mechanism: The mechanism that it is for.
    ///   - bytes: The token in UTF-8.
    ///   - expiry: When it ends.
    ///   - count: How many logins were tried with it.
    public init(mechanism: SASLMechanismName, bytes: [UInt8], expiry: DateTime, count: UInt32 = 0) {
        self.mechanism = mechanism
        secret = SecretBytes(bytes)
        self.expiry = expiry
        self.count = count
    }

    /// A copy of the token, for those who keep it.
    public var bytes: [UInt8] { secret.withUnsafeBytes { Array($0) } }

    /// Whether it can still be used at a time.
    package func isValid(at time: DateTime?) -> Bool {
        guard let time else { return true }
        return time < expiry
    }
}

extension LoginToken: CustomStringConvertible, CustomDebugStringConvertible {
    /// What it is for and how long; never the token.
    public var description: String { "a token for \(mechanism) until \(expiry)" }

    /// What it is for and how long; never the token.
    public var debugDescription: String { description }
}

extension LoginToken: Equatable {
    /// Whether two tokens are the same, in a time that does not depend on where they differ.
    public static func == (left: LoginToken, right: LoginToken) -> Bool {
        left.mechanism == right.mechanism && left.expiry == right.expiry && left.count == right.count
            && left.secret.matches(right.secret)
    }
}
