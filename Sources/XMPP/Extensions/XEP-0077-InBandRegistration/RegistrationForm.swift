// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// What a server or a service wants to know of those who register with it, in whatever form it asks (XEP-0077 §5).
///
/// A data form counts before the fields that this protocol has of old, and those before an address of the web:
/// ``questions`` are the ones to answer, ``submission(_:)`` makes the request that answers them.
public struct RegistrationForm: StanzaPayload, Hashable {
    /// The namespace of registrations.
    public static let namespace = "jabber:iq:register"
    /// The name of the `<query/>` element.
    public static let elementName = ElementName("query", namespace: namespace)
    /// The fields that the protocol has of old (XEP-0077 §14.1), in the order in which people are asked.
    static let oldFields = [
        "username", "password", "nick", "name", "first", "last", "email", "address", "city", "state", "zip", "phone",
        "url", "date", "misc", "text",
    ]

    /// A field of old, and what is on file for it.
    public struct OldField: Sendable, Hashable {
        /// The name: one that XEP-0077 §14.1 has.
        public var name: String
        /// What is on file; empty where nothing is.
        public var value: String

        /// Makes a field.
        public init(_ name: String, _ value: String = "") {
            self.name = name
            self.value = value
        }
    }

    /// Whether who asks is registered already (XEP-0077 §3.1).
    public var isRegistered = false
    /// What people are told to do.
    public var instructions: String?
    /// The questions as a data form; `nil` where there is none that can be read.
    public var form: DataForm?
    /// The questions as fields of old, in the order in which they were asked. All of them are to be answered.
    public var oldFields: [OldField] = []
    /// The transaction's key of old (XEP-0077 §6), which is sent back as it is.
    public var key: String?
    /// Where on the web one can register instead (XEP-0077 §4).
    public var page: OutOfBandData?
    /// What fields of the form refer to, where it came along (XEP-0231 §2.3).
    public var enclosed: [EnclosedData] = []
    /// What came along and was left out, by the names that fields refer to it with: larger than
    /// ``EnclosedData/maximumBytes``, behind ``EnclosedData/maximumCount`` others, or without data that can be read. As
    /// many names as may come along are noted.
    public private(set) var leftOut: [String] = []
    /// Whether there was a data form that could not be read: without a type, or too large.
    public private(set) var hasUnreadableForm = false

    /// Makes a form without questions.
    public init() {}

    /// Reads a `<query/>` element. What it has twice counts once.
    public init?(_ element: Element) {
        guard element.name == Self.elementName else { return nil }
        for child in element.children {
            switch (child.namespace, child.localName) {
            case (Self.namespace, "registered"): isRegistered = true
            case (Self.namespace, "instructions"): instructions = instructions ?? child.text.trimmedOfXMLWhitespace
            case (Self.namespace, "key"): key = key ?? child.text
            case (Self.namespace, let name) where Self.oldFields.contains(name):
                guard !oldFields.contains(where: { $0.name == name }) else { continue }
                oldFields.append(OldField(name, child.text))
            case (DataForm.namespace, "x"):
                guard form == nil else { continue }
                form = DataForm(child).flatMap { $0.kind == .form ? $0 : nil }
                hasUnreadableForm = form == nil
            case (OutOfBandData.namespace, "x"): page = page ?? OutOfBandData(child)
            case (EnclosedData.namespace, _):
                if enclosed.count < EnclosedData.maximumCount, let data = EnclosedData(child) {
                    enclosed.append(data)
                } else if leftOut.count < EnclosedData.maximumCount, let id = child["cid"] {
                    leftOut.append(id)
                }
            default: break
            }
        }
    }

    /// The `<query/>` element.
    public var element: Element {
        var query = Element(Self.elementName)
        if isRegistered { query.append(Element("registered", namespace: Self.namespace)) }
        if let instructions { query.append(Element("instructions", namespace: Self.namespace, text: instructions)) }
        for field in oldFields { query.append(Element(field.name, namespace: Self.namespace, text: field.value)) }
        if let key { query.append(Element("key", namespace: Self.namespace, text: key)) }
        if let form { query.append(form.element) }
        if let page { query.append(page.element) }
        query.append(contentsOf: enclosed.map(\.element))
        return query
    }

    /// A `<query/>` with these children.
    static func query(_ children: [Element]) -> Element {
        var query = Element(elementName)
        query.append(contentsOf: children)
        return query
    }

    // MARK: Answering

    /// The questions to answer: the data form where there is one, else the fields of old as one. Without fields there
    /// is nothing that can be answered here.
    public var questions: DataForm {
        if let form { return form }
        let ordered = Self.oldFields.compactMap { name in oldFields.first { $0.name == name } }
        return DataForm(
            .form, instructions: instructions.map { [$0] } ?? [],
            fields: ordered.map { field in
                DataForm.Field(
                    field.name, field.name == "password" ? .textPrivate : .textSingle, isRequired: true,
                    values: field.value.isEmpty ? [] : [field.value])
            })
    }

    /// Whether registration takes place elsewhere: there is nothing to answer, and words or an address that tell where
    /// (XEP-0077 §4).
    public var isElsewhere: Bool {
        !questions.fields.contains { $0.name != nil && $0.kind != .fixed && $0.kind != .hidden }
            && (page != nil || instructions != nil)
    }

    /// The request that answers the questions: the data form or the fields of old, never both (XEP-0077 §4).
    ///
    /// - Parameter answers: The values of each field, by its name.
    /// - Throws: ``DataFormError`` when they do not fit.
    public func submission(_ answers: [String: [String]]) throws(DataFormError) -> Element {
        let filled = try questions.filled(answers)
        guard form == nil else { return Self.query([filled.element]) }
        // An empty password would be refused (XEP-0077 §3.1, note 2).
        if let empty = filled.fields.first(where: { $0.values.first?.isEmpty != false })?.name {
            throw .missing(empty)
        }
        var query = Element(Self.elementName)
        if let key { query.append(Element("key", namespace: Self.namespace, text: key)) }
        for field in filled.fields {
            guard let name = field.name, let value = field.values.first else { continue }
            query.append(Element(name, namespace: Self.namespace, text: value))
        }
        return query
    }
}
