// SPDX-License-Identifier: Apache-2.0

import XMPPXML

@testable import XMPP

extension FuzzTarget {
    private static let forms: [String] = [
        "<x xmlns='jabber:x:data' type='form'><title>t</title><instructions>i</instructions><field type='hidden' "
            + "var='FORM_TYPE'><value>urn:x</value></field><field type='text-private' var='secret' label='l'><desc>d</desc>"
            + "<required/></field><field type='boolean' var='b'><value>1</value></field><field type='fixed'><value>f</value>"
            + "</field><field type='list-multi' var='o'><option label='x'><value>a</value></option><option><value>b</value>"
            + "</option><validate xmlns='http://jabber.org/protocol/xdata-validate' datatype='xs:integer'><range min='1' "
            + "max='5'/><list-range min='1' max='2'/></validate></field><field type='jid-multi' var='j'><value>a@b</value>"
            + "</field><field type='text-multi' var='m'><value>1</value><value>2</value></field></x>",
        "<x xmlns='jabber:x:data' type='result'><reported><field var='a' label='A'/><field var='b'/></reported><item>"
            + "<field var='a'><value>1</value></field></item><item><field var='b'><value>2</value></field><field var='a'/>"
            + "</item></x>",
        "<x xmlns='jabber:x:data' type='submit'><field var='FORM_TYPE'><value>urn:x</value></field><field var='d'><validate "
            + "xmlns='http://jabber.org/protocol/xdata-validate' datatype='xs:dateTime'><regex>(a+)+$</regex></validate>"
            + "<value>v</value></field></x>",
        "<x xmlns='jabber:x:data' type='cancel'/>",
    ]

    /// A data form of anybody (XEP-0004, XEP-0122): what is read is written the same, answers keep to the form, and
    /// what is private is in no error.
    static let form = FuzzTarget(name: "form", seeds: { forms.map { Array($0.utf8) } }) { bytes in
        guard let element = try? Element.parse(bytes), let form = DataForm(element) else { return }
        try require(DataForm(form.element) == form, "\(element) is read otherwise after it was written")
        try checkRoundTrip(form.element)
        let counts = [form.fields.count, form.columns.count] + form.rows.map(\.count)
        try require(counts.allSatisfy { $0 <= DataForm.maximumFields }, "too many fields")
        let table = form.table
        try require(table.count == form.rows.count, "a row of the table is gone")
        try require(table.allSatisfy { $0.count == form.columns.count }, "a row has other columns than the table")
        _ = (form.type, form.value("b"), form.flag("b"))
        // What the form suggests, something that nothing takes, nothing, and what only a person can know.
        let names = form.fields.compactMap(\.name)
        try checkFilling(form, [:])
        try checkFilling(form, Dictionary(form.fields.map { ($0.name ?? "", $0.values) }, uniquingKeysWith: { $1 }))
        for values in [[], ["marker-e7"], ["0"], ["marker-e7", "marker-e7"]] {
            try checkFilling(form, Dictionary(names.map { ($0, values) }, uniquingKeysWith: { $1 }))
            for name in names { try checkFilling(form, [name: values]) }
        }
    }

    private static func checkFilling(_ form: DataForm, _ answers: [String: [String]]) throws {
        let filled: DataForm
        do throws(DataFormError) {
            filled = try form.filled(answers)
        } catch {
            if case .unfit(let name, let reason) = error, form.fields.allSatisfy({ $0.kind == .textPrivate }) {
                try require(!reason.contains("marker-e7"), "what is private is told: \(name) \(reason)")
            }
            return
        }
        try require(filled.kind == .submit && form.kind == .form, "answers to no questions")
        try require(DataForm(filled.element) == filled, "the answers \(filled) are read otherwise")
        let questions = form.fields.filter { $0.kind != .fixed }
        for answer in filled.fields {
            let asked = questions.filter { $0.name == answer.name }
            try require(!asked.isEmpty, "an answer to no question: \(answer)")
            let known = asked.flatMap(\.values) + (answer.name.flatMap { answers[$0] } ?? [])
            try require(answer.values.allSatisfy(known.contains), "an answer that nobody gave: \(answer)")
        }
        // Without a name there is nothing to answer under (XEP-0004 §3.2).
        for question in questions where question.isRequired && question.name != nil {
            try require(filled.fields.contains { $0.name == question.name }, "\(question) is not answered")
        }
    }
}
