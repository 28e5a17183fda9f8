// SPDX-License-Identifier: Apache-2.0

/// How much one first-level element of a stream may ask for. Passing a limit ends the stream with `policy-violation`;
/// in the sessions after that, what passes one is passed over.
public struct XMLLimits: Sendable, Hashable {
    /// Bytes of one first-level element, or of the stream header; default 1 MiB, at most 9,000,000 (libxml2 refuses
    /// texts and tags of ten million): a larger value counts as that.
    public var maximumStanzaBytes: Int
    /// Levels of nesting below the root; default 64.
    public var maximumDepth: Int
    /// Attributes and namespace declarations of one element; default 256.
    public var maximumAttributes: Int
    /// Elements within one first-level element, itself included; default 20,000.
    public var maximumElements: Int
    /// Bytes of one element or attribute name, prefix included; default 1,024.
    public var maximumNameBytes: Int
    /// Bytes of one namespace, as they are written; default 4,096, some forty times the longest in use. A reference
    /// counts as four.
    public var maximumNamespaceBytes: Int
    /// Bytes of a first-level element that is passed over because it is past one of the other limits: it is read to its
    /// end, and nothing of it is built or kept. A larger one is refused. 0, the default: none is passed over, all are
    /// refused.
    package var maximumPassedOverBytes = 0

    /// Makes limits; each has the default named at its property.
    public init(
        maximumStanzaBytes: Int = 1_048_576, maximumDepth: Int = 64, maximumAttributes: Int = 256,
        maximumElements: Int = 20_000, maximumNameBytes: Int = 1_024, maximumNamespaceBytes: Int = 4_096
    ) {
        self.maximumStanzaBytes = maximumStanzaBytes
        self.maximumDepth = maximumDepth
        self.maximumAttributes = maximumAttributes
        self.maximumElements = maximumElements
        self.maximumNameBytes = maximumNameBytes
        self.maximumNamespaceBytes = maximumNamespaceBytes
    }

    /// These limits with elements passed over, of ``usualPassedOverBytes`` at most.
    package var passingOver: XMLLimits {
        var limits = self
        limits.maximumPassedOverBytes = Self.usualPassedOverBytes
        return limits
    }

    /// What is in force within an element that is passed over: only the bytes count.
    var withinPassedOver: XMLLimits {
        XMLLimits(
            maximumStanzaBytes: maximumPassedOverBytes, maximumDepth: .max, maximumAttributes: .max,
            maximumElements: .max, maximumNameBytes: .max, maximumNamespaceBytes: .max)
    }

    /// Bytes of an element that is passed over, 4 GiB. Some servers write a namespace out at each child: the 262,144
    /// bytes that they take of a stranger then become 2.9 GB at most, half of them the namespace and half of them the
    /// children.
    package static let usualPassedOverBytes = 4 << 30

    /// Bytes of a WebSocket's message that is passed over, 16 MiB: one is put together before it can be read.
    package static let passedOverMessageBytes = 16 << 20

    /// The largest ``maximumStanzaBytes`` that has an effect.
    static let ceilingOfStanzaBytes = 9_000_000

    /// White space before the stream header, in bytes: no parser needs any there.
    public static let maximumSpaceBeforeRoot = 1_024

    /// The limits of an authenticated stream.
    public static let session = XMLLimits()

    /// The limits before authentication: 16 KiB and 512 elements for each first-level element.
    public static let beforeAuthentication = XMLLimits(maximumStanzaBytes: 16_384, maximumElements: 512)
}
