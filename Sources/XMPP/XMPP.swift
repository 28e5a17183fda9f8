// SPDX-License-Identifier: Apache-2.0

// `import XMPP` is all that a user writes: the values that the API speaks of come with it.
@_exported public import XMPPCore
@_exported public import XMPPProtocol
@_exported public import XMPPXML
