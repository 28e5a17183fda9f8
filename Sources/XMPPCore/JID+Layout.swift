// SPDX-License-Identifier: Apache-2.0

extension JID {
    /// Where the parts of a prepared JID stand, as UTF-8 offsets. At most 2047, for parts hold at most 1023 octets.
    struct Layout: Hashable {
        /// The start of the domainpart.
        let domainStart: UInt16
        /// The end of the domainpart.
        let domainEnd: UInt16
    }

    /// The most octets a part may have after preparation (RFC 7622 §3.2, §3.3, §3.4).
    static let maximumPartLength = 1023
    /// The most octets of a DNS label (RFC 1035 §2.3.4).
    static let maximumLabelLength = 63
    /// The most octets of a DNS name as text, without a trailing dot (RFC 1035 §2.3.4 counts length octets and the
    /// root).
    static let maximumNameLength = 253
}

extension JID.Layout {
    /// The layout of a string that is its own prepared form for plain reasons: ASCII, lower-case account and host,
    /// within every limit. `nil` says only that the long way has to decide.
    ///
    /// Nearly every JID on the wire takes this path: one look at each octet, no allocation.
    init?(plain string: String) {
        let found = string.utf8.withContiguousStorageIfAvailable { Self(octets: $0) }
        guard let found, let layout = found else { return nil }
        self = layout
    }

    private init?(octets: UnsafeBufferPointer<UInt8>) {
        guard octets.count <= 3 * JID.maximumPartLength + 2 else { return nil }
        let slash = octets.firstIndex(of: UInt8(ascii: "/")) ?? octets.count
        let at = octets[..<slash].firstIndex(of: UInt8(ascii: "@"))
        if let at {
            guard (1...JID.maximumPartLength).contains(at), octets[..<at].allSatisfy(Self.isPlainLocalpart) else {
                return nil
            }
        }
        let domain = octets[((at ?? -1) + 1)..<slash]
        guard Self.isPlainDomain(domain) else { return nil }
        if slash < octets.count {
            let resource = octets[(slash + 1)...]
            guard (1...JID.maximumPartLength).contains(resource.count) else { return nil }
            guard resource.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
        }
        domainStart = UInt16(domain.startIndex)
        domainEnd = UInt16(slash)
    }

    /// Lower-case ASCII7 without the eight characters that RFC 7622 §3.3.1 excludes.
    private static func isPlainLocalpart(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x61...0x7A, 0x30...0x39, 0x2D, 0x2E, 0x5F: true
        case 0x22, 0x26, 0x27, 0x2F, 0x3A, 0x3C, 0x3E, 0x40, 0x41...0x5A: false
        default: (0x21...0x7E).contains(octet)
        }
    }

    /// Labels of lower-case letters, digits and inner hyphens, none of which could be an A-label (RFC 5890 §2.3.1).
    private static func isPlainDomain(_ octets: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        guard (1...JID.maximumNameLength).contains(octets.count) else { return false }
        var length = 0
        var previous = UInt8(ascii: ".")
        for octet in octets {
            switch octet {
            case 0x61...0x7A, 0x30...0x39:
                length += 1
            case UInt8(ascii: "-"):
                // Two hyphens in a row may be the mark of an A-label: let the long way look.
                guard length > 0, previous != octet else { return false }
                length += 1
            case UInt8(ascii: "."):
                guard length > 0, previous != UInt8(ascii: "-") else { return false }
                length = 0
            default:
                return false
            }
            guard length <= JID.maximumLabelLength else { return false }
            previous = octet
        }
        return length > 0 && previous != UInt8(ascii: "-")
    }
}
