// SPDX-License-Identifier: Apache-2.0

/// Why a peer's XML was refused. Each case is one condition of RFC 6120 §4.9.3.
package enum XMLStreamError: Error, Sendable, Hashable {
    /// Not well-formed, or not namespace-well-formed, XML (§11.3). The text says what libxml2 or we found.
    case notWellFormed(String)
    /// Well-formed XML that is no stream: character data between first-level elements (§4.9.3.1, §11.7).
    case badFormat(String)
    /// A comment, processing instruction, DTD or foreign entity (§11.1).
    case restrictedXML(String)
    /// Not UTF-8 (§11.6).
    case unsupportedEncoding(String)
    /// Not XML 1.0.
    case unsupportedVersion(String)
    /// One of ``XMLLimits`` was passed.
    case limitExceeded(String)
}
