// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// What the answer to a field of a form has to be like (XEP-0122).
public struct FieldValidation: StanzaPayload, Hashable {
    /// The namespace of validations.
    public static let namespace = "http://jabber.org/protocol/xdata-validate"
    /// The name of the `<validate/>` element.
    public static let elementName = ElementName("validate", namespace: namespace)

    /// How an answer is validated beyond its type (XEP-0122 §3.2).
    public enum Method: Sendable, Hashable {
        /// Not at all.
        case basic
        /// Not at all; and what is not among the options may be answered too.
        case open
        /// It lies between two values of its type, both included.
        case range(minimum: String?, maximum: String?)
        /// It matches a regular expression, as XML Schema has them.
        case pattern(String)
    }

    /// The type by its name in XML Schema, such as `xs:integer`.
    public var dataType: String
    /// How an answer is validated.
    public var method: Method
    /// How many options have to be chosen at least (XEP-0122 §3.3).
    public var minimumChoices: Int?
    /// How many options may be chosen.
    public var maximumChoices: Int?

    /// Makes a validation.
    public init(
        _ dataType: String = "xs:string", _ method: Method = .basic, minimumChoices: Int? = nil,
        maximumChoices: Int? = nil
    ) {
        self.dataType = dataType
        self.method = method
        self.minimumChoices = minimumChoices
        self.maximumChoices = maximumChoices
    }

    /// Reads a `<validate/>` element; `nil` when it is another one, or has two methods.
    public init?(_ element: Element) {
        guard element.name == Self.elementName else { return nil }
        self.init(element["datatype"] ?? "xs:string")
        var hasMethod = false
        for case .element(let child) in element.nodes where child.namespace == Self.namespace {
            if child.localName == "list-range" {
                minimumChoices = child["min"].flatMap { Int($0) }
                maximumChoices = child["max"].flatMap { Int($0) }
                continue
            }
            switch child.localName {
            case "basic": method = .basic
            case "open": method = .open
            case "range": method = .range(minimum: child["min"], maximum: child["max"])
            case "regex": method = .pattern(child.text)
            default: continue
            }
            // XEP-0122 §3.2: there is at most one.
            guard !hasMethod else { return nil }
            hasMethod = true
        }
    }

    /// The `<validate/>` element.
    public var element: Element {
        var element = Element(Self.elementName, attributes: ["datatype": dataType])
        func child(_ name: String, _ attributes: KeyValuePairs<String, String?> = [:]) -> Element {
            Element(name, namespace: Self.namespace, attributes: attributes)
        }
        switch method {
        case .basic: element.append(child("basic"))
        case .open: element.append(child("open"))
        case .range(let minimum, let maximum): element.append(child("range", ["min": minimum, "max": maximum]))
        case .pattern(let pattern): element.append(Element("regex", namespace: Self.namespace, text: pattern))
        }
        if minimumChoices != nil || maximumChoices != nil {
            element.append(
                child("list-range", ["min": minimumChoices.map(String.init), "max": maximumChoices.map(String.init)]))
        }
        return element
    }

    /// Whether answers beyond the options are allowed.
    var isOpen: Bool { method != .basic }

    /// Why a value is not one of the type and range; `nil` when it is, or when the type is not known here.
    ///
    /// - Parameter isPrivate: Whether the reason must not repeat the value.
    func unfitness(of value: String, isPrivate: Bool = false) -> String? {
        guard Self.isOf(dataType, value) else {
            return isPrivate ? "takes \(dataType)" : "takes \(dataType): “\(value)” is none"
        }
        guard case .range(let minimum, let maximum) = method else { return nil }
        if let minimum, Self.precedes(value, minimum, dataType) { return "takes nothing below \(minimum)" }
        if let maximum, Self.precedes(maximum, value, dataType) { return "takes nothing above \(maximum)" }
        return nil
    }

    /// Why so many values are too few or too many.
    func unfitness(ofCount count: Int, of kind: DataForm.Field.Kind) -> String? {
        guard kind == .listMulti else { return nil }
        if let minimumChoices, count < minimumChoices { return "takes at least \(minimumChoices) values" }
        if let maximumChoices, count > maximumChoices { return "takes at most \(maximumChoices) values" }
        return nil
    }

    private static func isOf(_ dataType: String, _ value: String) -> Bool {
        switch dataType {
        case "xs:byte": Int8(value) != nil
        case "xs:short": Int16(value) != nil
        case "xs:int": Int32(value) != nil
        case "xs:long": Int64(value) != nil
        case "xs:integer": isInteger(value)
        case "xs:decimal", "xs:double", "xs:float": Double(value) != nil
        case "xs:boolean": ["0", "1", "true", "false"].contains(value)
        case "xs:dateTime": DateTime(value) != nil
        case "xs:date": DateTime(value + "T00:00:00Z") != nil
        case "xs:time": DateTime("2000-01-01T" + value) != nil || DateTime("2000-01-01T" + value + "Z") != nil
        case "xs:language": LanguageRange.isTag(value)
        default: true
        }
    }

    private static func isInteger(_ value: String) -> Bool {
        let digits = value.hasPrefix("-") || value.hasPrefix("+") ? value.dropFirst() : value[...]
        return !digits.isEmpty && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// Whether one value lies before another one; never for types without an order that is known here.
    private static func precedes(_ left: String, _ right: String, _ dataType: String) -> Bool {
        switch dataType {
        case "xs:dateTime":
            guard let left = DateTime(left), let right = DateTime(right) else { return false }
            return left < right
        case "xs:date", "xs:time":
            return left < right
        default:
            guard let left = Double(left), let right = Double(right) else { return false }
            return left < right
        }
    }
}

/// Language tags, as far as their form goes.
private enum LanguageRange {
    /// Whether a text has the form of a language tag (RFC 5646 §2.1): parts of 1 to 8 letters or digits.
    static func isTag(_ text: String) -> Bool {
        text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false).allSatisfy { part in
            (1...8).contains(part.count)
                && part.allSatisfy { byte in
                    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                }
        }
    }
}
