// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The keys that signatures of the DNS begin at (RFC 4035 §4.4).
package enum TrustedKeys: Sendable, Hashable {
    /// Those of the root, from the first of these files that is there.
    case system
    /// Records in the text form of a zone file, `DS` or `DNSKEY`.
    case records([String])

    /// Where systems keep the keys of the root.
    package static let files = [
        "/usr/share/dns/root.key", "/var/lib/unbound/root.key", "/etc/unbound/root.key",
        "/usr/share/dnssec-root/trusted-key.key",
        "/etc/trusted-key.key",
    ]

    /// The file of the root's keys; `nil` where the system has none.
    package static var file: String? { files.first { access($0, R_OK) == 0 } }
}
