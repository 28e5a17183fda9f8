// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// Questions to fill in, the answers to them, or a table of results (XEP-0004).
///
/// ```swift
/// let form = try await stream.roomConfiguration(of: coven)
/// let answers = try form.filled(["muc#roomconfig_roomname": ["A Dark Cave"]])
/// ```
public struct DataForm: StanzaPayload, Hashable {
    /// The namespace of forms.
    public static let namespace = "jabber:x:data"
    /// The name of the `<x/>` element.
    public static let elementName = ElementName("x", namespace: namespace)
    /// How many fields a form, its header or one of its rows may have; 1,000. One with more is not read.
    public static let maximumFields = 1_000
    /// How many rows a table may have; 10,000. One with more is not read.
    public static let maximumRows = 10_000
    /// How many cells a table may have, rows by columns; 100,000. One with more is not read: rows that say nothing are
    /// short, and ``table`` has a text for each cell of each.
    public static let maximumCells = 100_000

    /// What a form is for (XEP-0004 §3.1).
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Questions to be filled in.
        case form
        /// The answers.
        case submit
        /// No answers: whoever was asked does not want to go on.
        case cancel
        /// Data, such as the outcome of a search.
        case result
    }

    /// What the form is for.
    public var kind: Kind
    /// A heading for people.
    public var title: String?
    /// What people are told to do, in paragraphs.
    public var instructions: [String]
    /// The questions or answers, in order.
    public var fields: [Field]
    /// The columns of the table of results (XEP-0004 §3.4); empty where there is none.
    public var columns: [Field]
    /// The rows of that table: each has a field for each column that says something.
    public var rows: [[Field]]

    /// Makes a form.
    public init(
        _ kind: Kind, title: String? = nil, instructions: [String] = [], fields: [Field] = [], columns: [Field] = [],
        rows: [[Field]] = []
    ) {
        self.kind = kind
        self.title = title
        self.instructions = instructions
        self.fields = fields
        self.columns = columns
        self.rows = rows
    }

    /// Makes the answers to a form whose type is known (XEP-0068).
    ///
    /// - Parameters:
    ///   - type: The `FORM_TYPE`.
    ///   - answers: The values of each field, in order.
    public init(submitting type: String, _ answers: KeyValuePairs<String, [String]>) {
        self.init(
            .submit,
            fields: [Field("FORM_TYPE", .hidden, values: [type])] + answers.map { Field($0.key, values: $0.value) })
    }

    /// Reads an `<x/>` element; `nil` when its type is missing or unknown (XEP-0004 §3.1), or it has more fields, rows
    /// or cells than ``maximumFields``, ``maximumRows`` and ``maximumCells`` allow.
    public init?(_ element: Element) {
        guard element.name == Self.elementName, let kind = element["type"].flatMap(Kind.init) else { return nil }
        self.init(kind)
        for case .element(let child) in element.nodes where child.namespace == Self.namespace {
            switch child.localName {
            case "title": title = title ?? child.text
            case "instructions": instructions.append(child.text)
            case "field": fields.append(Field(child))
            case "reported": columns = Self.fields(in: child)
            case "item": rows.append(Self.fields(in: child))
            default: break
            }
            guard max(fields.count, columns.count, rows.last?.count ?? 0) <= Self.maximumFields,
                instructions.count <= Self.maximumFields, rows.count <= Self.maximumRows,
                rows.count * columns.count <= Self.maximumCells
            else { return nil }
        }
    }

    /// The `<x/>` element.
    public var element: Element {
        var form = Element(Self.elementName, attributes: ["type": kind.rawValue])
        if let title { form.append(Element("title", namespace: Self.namespace, text: title)) }
        for text in instructions { form.append(Element("instructions", namespace: Self.namespace, text: text)) }
        form.append(contentsOf: fields.lazy.map(\.element))
        if !columns.isEmpty {
            form.append(Element("reported", namespace: Self.namespace, children: columns.map(\.element)))
        }
        for row in rows { form.append(Element("item", namespace: Self.namespace, children: row.map(\.element))) }
        return form
    }

    private static func fields(in element: Element) -> [Field] {
        element.children("field", namespace: namespace).map { Field($0) }
    }

    // MARK: Looking things up

    /// What the fields are about: the value of the field `FORM_TYPE` (XEP-0068 §3). In questions and results it has to
    /// be a hidden one.
    public var type: String? {
        guard let field = self["FORM_TYPE"], kind == .submit || field.kind == .hidden else { return nil }
        return field.values.first
    }

    /// The field with this name; the first one where there are more.
    public subscript(name: String) -> Field? {
        fields.first { $0.name == name }
    }

    /// The first value of a field.
    public func value(_ name: String) -> String? { self[name]?.values.first }

    /// The truth value of a field: `1` and `true`, `0` and `false` (XEP-0004 §3.3).
    public func flag(_ name: String) -> Bool? { self[name]?.flag }

    /// The table of results as text: a line for each row, a cell for each of ``columns``; values of one cell are joined
    /// by line feeds.
    public var table: [[String]] {
        rows.map { row in
            columns.map { column in
                row.first { $0.name == column.name }?.values.joined(separator: "\n") ?? ""
            }
        }
    }
}
