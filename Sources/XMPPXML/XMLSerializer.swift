// SPDX-License-Identifier: Apache-2.0

/// Writes elements as XML 1.0 that every XMPP server takes.
package enum XMLSerializer {}
