// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import XMPP

private let form = "xmlns='jabber:x:data'"
private let validate = "xmlns='http://jabber.org/protocol/xdata-validate'"

/// Rows of XEP-0004 and XEP-0122.
let formRows = [
    PayloadRow(
        "XEP-0004 §3.1",
        DataForm(
            .form, title: "Dark Cave Registration", instructions: ["Please provide", "this."],
            fields: [
                .init("FORM_TYPE", .hidden, values: ["urn:x"]),
                .init("given", label: "Given Name", isRequired: true),
                .init(nil, .fixed, values: ["Read me"]),
                .init(
                    "level", .listSingle, explanation: "How good", values: ["2"],
                    options: [.init("1", label: "One"), .init("2")]),
                .init("count", validation: FieldValidation("xs:integer", .range(minimum: "1", maximum: nil))),
            ]),
        "<x \(form) type='form'><title>Dark Cave Registration</title><instructions>Please provide</instructions>"
            + "<instructions>this.</instructions><field var='FORM_TYPE' type='hidden'><value>urn:x</value></field>"
            + "<field var='given' label='Given Name'><required/></field><field type='fixed'><value>Read me</value></field>"
            + "<field var='level' type='list-single'><desc>How good</desc><value>2</value><option label='One'><value>1"
            + "</value></option><option><value>2</value></option></field><field var='count'><validate \(validate)"
            + " datatype='xs:integer'><range min='1'/></validate></field></x>", required: ["type"]),
    PayloadRow(
        "XEP-0004 §3.4",
        DataForm(
            .result, columns: [.init("jid", .jidSingle), .init("nick", label: "Nick")],
            rows: [
                [.init("jid", values: ["a@b"]), .init("nick", values: ["x", "y"])], [.init("nick", values: ["z"])],
            ]),
        "<x \(form) type='result'><reported><field var='jid' type='jid-single'/><field var='nick' label='Nick'/>"
            + "</reported><item><field var='jid'><value>a@b</value></field><field var='nick'><value>x</value><value>y"
            + "</value></field></item><item><field var='nick'><value>z</value></field></item></x>", required: ["type"]),
    PayloadRow("XEP-0004 §3.1", DataForm.cancelled, "<x \(form) type='cancel'/>", required: ["type"]),
    PayloadRow(
        "XEP-0122 §3.2.2", FieldValidation("xs:string", .open),
        "<validate \(validate) datatype='xs:string'><open/></validate>"),
    PayloadRow(
        "XEP-0122 §3.2.4", FieldValidation("xs:string", .pattern("[0-9]+")),
        "<validate \(validate) datatype='xs:string'><regex>[0-9]+</regex></validate>"),
    PayloadRow(
        "XEP-0122 §3.3", FieldValidation("xs:string", .basic, minimumChoices: 1, maximumChoices: 3),
        "<validate \(validate) datatype='xs:string'><basic/><list-range min='1' max='3'/></validate>"),
]

@Suite("Data forms (XEP-0004, XEP-0122)")
struct DataFormTests {
    private static let questions = DataForm(
        .form,
        fields: [
            .init("FORM_TYPE", .hidden, values: ["urn:x"]), .init(nil, .fixed, values: ["Read"]),
            .init("name", isRequired: true), .init("public", .boolean, values: ["1"]),
            .init("who", .jidMulti), .init("level", .listSingle, options: [.init("low"), .init("high")]),
            .init(
                "free", .listSingle, options: [.init("a")], validation: FieldValidation("xs:string", .open)),
            .init("age", validation: FieldValidation("xs:integer", .range(minimum: "0", maximum: "150"))),
            .init(
                "when",
                validation: FieldValidation("xs:dateTime", .range(minimum: "2020-01-01T00:00:00Z", maximum: nil))),
            .init(
                "some", .listMulti, options: [.init("a"), .init("b"), .init("c")],
                validation: FieldValidation("xs:string", .basic, minimumChoices: 1, maximumChoices: 2)),
            .init("lines", .textMulti),
        ])

    @Test("answers fill a form: what is hidden goes back, what is to read does not, what was suggested stays")
    func filling() throws {
        let answers = try Self.questions.filled(["name": ["Cave"], "lines": ["one", "two"], "public": []])
        #expect(
            answers
                == DataForm(
                    .submit,
                    fields: [
                        .init("FORM_TYPE", .hidden, values: ["urn:x"]), .init("name", values: ["Cave"]),
                        .init("public"), .init("lines", values: ["one", "two"]),
                    ]))
        #expect(answers.type == "urn:x" && answers.value("name") == "Cave" && answers.flag("public") == nil)
        #expect(try Self.questions.filled(["name": ["Cave"]]).flag("public") == true)
    }

    @Test(
        "an answer that the form does not take is refused before it is sent",
        arguments: [
            (["public": ["0"]], DataFormError.missing("name")), (["name": []], .missing("name")),
            (["nmae": ["x"]], .unknownField("nmae")),
            (["name": ["a", "b"]], .unfit(field: "name", reason: "takes one value")),
            (["name": ["a"], "public": ["yes"]], .unfit(field: "public", reason: "takes true or false")),
            (
                ["name": ["a"], "who": ["a@b", "@"]],
                .unfit(field: "who", reason: "takes addresses: “@” is none")
            ),
            (["name": ["a"], "level": ["mid"]], .unfit(field: "level", reason: "has no option “mid”")),
            (["name": ["a"], "age": ["old"]], .unfit(field: "age", reason: "takes xs:integer: “old” is none")),
            (["name": ["a"], "age": ["-1"]], .unfit(field: "age", reason: "takes nothing below 0")),
            (["name": ["a"], "age": ["151"]], .unfit(field: "age", reason: "takes nothing above 150")),
            (
                ["name": ["a"], "when": ["2019-12-31T23:59:59Z"]],
                .unfit(field: "when", reason: "takes nothing below 2020-01-01T00:00:00Z")
            ),
            (["name": ["a"], "some": ["a", "b", "c"]], .unfit(field: "some", reason: "takes at most 2 values")),
            (["name": ["a"], "some": []], .unfit(field: "some", reason: "takes at least 1 values")),
        ] as [([String: [String]], DataFormError)])
    func refusals(answers: [String: [String]], error: DataFormError) {
        #expect(throws: error) { try Self.questions.filled(answers) }
    }

    @Test("at the ends of a range, and beside the options where that is open, an answer is taken (XEP-0122 §3.2)")
    func ends() throws {
        for age in ["0", "150"] {
            #expect(try Self.questions.filled(["name": ["a"], "age": [age]]).value("age") == age)
        }
        #expect(try Self.questions.filled(["name": ["a"], "free": ["b"]]).value("free") == "b")
        #expect(try Self.questions.filled(["name": ["a"], "some": ["a", "b"]])["some"]?.values.count == 2)
    }

    @Test("what is private is in no error, and goes back as private (XEP-0004 §3.3)")
    func privateAnswers() throws {
        let form = DataForm(.form, fields: [.init("pin", .textPrivate, validation: FieldValidation("xs:integer"))])
        #expect(throws: DataFormError.unfit(field: "pin", reason: "takes xs:integer")) {
            try form.filled(["pin": ["geheim"]])
        }
        let filled = try form.filled(["pin": ["1234"]])
        #expect(filled["pin"]?.kind == .textPrivate && filled.value("pin") == "1234")
        #expect(!WireLog.describe(filled.element).contains("1234"))
    }

    @Test("only questions can be filled in", arguments: [DataForm.Kind.submit, .cancel, .result])
    func noForm(kind: DataForm.Kind) {
        #expect(throws: DataFormError.notAForm) { try DataForm(kind).filled([:]) }
    }

    @Test(
        "values have to be of the type that is asked for, where it is known (XEP-0122 §3.1)",
        arguments: [
            ("xs:byte", "127", "128"), ("xs:short", "32767", "32768"), ("xs:int", "2147483647", "2147483648"),
            ("xs:long", "9223372036854775807", "9223372036854775808"),
            ("xs:integer", "-99999999999999999999", "1.5"), ("xs:decimal", "1.5", "one"), ("xs:boolean", "true", "ja"),
            ("xs:date", "2020-02-29", "2021-02-29"), ("xs:time", "12:00:00", "25:00:00"),
            ("xs:dateTime", "2020-02-29T00:00:00Z", "2020-02-30T00:00:00Z"), ("xs:language", "de-CH", "de_CH"),
        ])
    func types(type: String, right: String, wrong: String) {
        #expect(FieldValidation(type).unfitness(of: right) == nil)
        #expect(FieldValidation(type).unfitness(of: wrong) != nil)
        #expect(FieldValidation("x:made-up").unfitness(of: wrong) == nil)
    }

    @Test("a report is a table with a cell for each column (XEP-0004 §3.4)")
    func table() throws {
        let report = DataForm(
            .result, columns: [.init("a"), .init("b")],
            rows: [[.init("b", values: ["2", "3"]), .init("a", values: ["1"])], [.init("c", values: ["x"])]])
        #expect(report.table == [["1", "2\n3"], ["", ""]])
    }

    @Test("what a form is about counts from a hidden field alone (XEP-0068 §3.2)")
    func formType() throws {
        let open = DataForm(.result, fields: [.init("FORM_TYPE", values: ["urn:x"])])
        #expect(open.type == nil)
        #expect(DataForm(.result, fields: [.init("FORM_TYPE", .hidden, values: ["urn:x"])]).type == "urn:x")
        #expect(DataForm(submitting: "urn:x", ["a": ["1"]]).type == "urn:x")
    }

    @Test(
        "a form of no type, or with more than a form may have, is none",
        arguments: ["<x xmlns='jabber:x:data' type='what'/>", "<x xmlns='jabber:x:data'/>"])
    func types(xml: String) throws {
        #expect(DataForm(try Element.parse(xml)) == nil)
    }

    @Test("a form has at most so many fields, rows and cells")
    func limits() {
        let fields = Array(repeating: DataForm.Field("a"), count: DataForm.maximumFields)
        #expect(DataForm(DataForm(.form, fields: fields).element) != nil)
        #expect(DataForm(DataForm(.form, fields: fields + [.init("b")]).element) == nil)
        #expect(DataForm(DataForm(.result, rows: [fields + [.init("b")]]).element) == nil)
        #expect(DataForm(DataForm(.result, columns: fields + [.init("b")]).element) == nil)
        let rows = Array(repeating: [DataForm.Field](), count: DataForm.maximumRows)
        #expect(DataForm(DataForm(.result, rows: rows).element) != nil)
        #expect(DataForm(DataForm(.result, rows: rows + [[]]).element) == nil)
    }

    @Test("a short answer makes no table of ten million cells (RFC 6120 §13.12)", arguments: [true, false])
    func cells(headerIsFirst: Bool) throws {
        func form(_ rows: Int) throws -> DataForm? {
            let reported = "<reported>\(String(repeating: "<field var='a'/>", count: 1_000))</reported>"
            let items = String(repeating: "<item/>", count: rows)
            return DataForm(
                try Element.parse(
                    "<x xmlns='jabber:x:data' type='result'>\(headerIsFirst ? reported + items : items + reported)</x>")
            )
        }
        let most = DataForm.maximumCells / 1_000
        #expect(try form(most)?.table.count == most)
        #expect(try form(most + 1) == nil)
        #expect(try form(9_900) == nil)
    }

    @Test("a field that says nothing of its kind is a line of text, and one of an unknown kind is kept (XEP-0004 §3.3)")
    func kinds() throws {
        let xml = "<x xmlns='jabber:x:data' type='form'><field var='a'/><field var='b' type='hologram'/></x>"
        let form = try #require(DataForm(try Element.parse(xml)))
        #expect(form["a"]?.kind == .textSingle && form["b"]?.kind.rawValue == "hologram")
    }
}
