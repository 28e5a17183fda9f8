// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore

extension DiscoveryInformation {
    /// The places on the web where a server tells of outages (XEP-0455 §2.1), to be remembered for the time when it
    /// cannot be reached; others than `https` are left out. Nothing fetches them by itself.
    public var outageStatusAddresses: [String] {
        (form("urn:xmpp:sos:0")?["external-status-addresses"]?.values ?? []).filter {
            $0.lowercased().hasPrefix("https://")
        }
    }
}
