// SPDX-License-Identifier: Apache-2.0

/// Why an element cannot be written as XML 1.0 with namespaces.
public enum XMLSerializationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A character that XML does not allow (XML §2.2), and where it stands: "text of body", "attribute id of iq".
    case illegalCharacter(Unicode.Scalar, place: String)
    /// The name of an element or attribute is no name without colon (XML Names §3).
    case invalidName(String)
    /// A namespace that XML reserves or that the name cannot be in (XML Names §3).
    case invalidNamespace(String)
    /// The XML would have more than so many bytes.
    case tooLarge(Int)

    /// One line for a log; has names, never values.
    public var description: String {
        switch self {
        case .illegalCharacter(let scalar, let place):
            "U+\(XMLText.hexadecimal(scalar)) in the \(place) is not a character that XML allows"
        case .invalidName(let name): "'\(XMLText.printable(name))' is not a name that XML allows"
        case .invalidNamespace(let name): "'\(XMLText.printable(name))' is not a namespace that can be used here"
        case .tooLarge(let bytes): "it has more than \(bytes) bytes as XML"
        }
    }
}
