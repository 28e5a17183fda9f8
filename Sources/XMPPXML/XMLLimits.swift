// SPDX-License-Identifier: Apache-2.0

/// How much one first-level element of a stream may ask for. Passing a limit ends the stream with `policy-violation`.
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
    /// Bytes of one namespace, as they are written; default 4,096, some forty times the longest in use. A reference counts as four.
    public var maximumNamespaceBytes: Int

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

    /// The largest ``maximumStanzaBytes`` that has an effect.
    static let ceilingOfStanzaBytes = 9_000_000

    /// White space before the stream header, in bytes: no parser needs any there.
    public static let maximumSpaceBeforeRoot = 1_024

    /// The limits of an authenticated stream.
    public static let session = XMLLimits()

    /// The limits before authentication: 16 KiB and 512 elements for each first-level element.
    public static let beforeAuthentication = XMLLimits(maximumStanzaBytes: 16_384, maximumElements: 512)
}
