// SPDX-License-Identifier: Apache-2.0

package import XMPPCrypto

/// What a SCRAM exchange proves knowledge of: a password, keys derived from it earlier, or both.
package struct SCRAMSecret: Sendable {
    /// The password, prepared with SASLprep (RFC 5802 §2.2); `nil` when only keys are kept.
    package let password: SecretBytes?
    /// Keys kept from an earlier login, used when the server still asks for the same.
    package let keys: SCRAMKeyMaterial?

    /// A prepared password, with keys from earlier when there are any.
    package init(preparedPassword: SecretBytes, keys: SCRAMKeyMaterial? = nil) {
        password = preparedPassword
        self.keys = keys
    }

    /// Keys alone: enough while the server keeps its salt and iteration count.
    package init(keys: SCRAMKeyMaterial) {
        password = nil
        self.keys = keys
    }
}
