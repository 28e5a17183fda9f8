// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore

/// Why answers do not fit a form.
public enum DataFormError: Error, Sendable, Hashable, CustomStringConvertible {
    /// It is no form with questions.
    case notAForm
    /// There is no question of this name.
    case unknownField(String)
    /// The question has to be answered and is not.
    case missing(String)
    /// The answer to the question is none that it takes; the reason never repeats one that is private.
    case unfit(field: String, reason: String)

    /// The reason for people.
    public var description: String {
        switch self {
        case .notAForm: "there is nothing to fill in"
        case .unknownField(let name): "the form has no field “\(name)”"
        case .missing(let name): "the field “\(name)” has to be filled in"
        case .unfit(let name, let reason): "the field “\(name)” \(reason)"
        }
    }
}

extension DataForm {
    /// The form with answers, ready to be sent (XEP-0004 §3.2): the values of hidden fields go back as they are, other
    /// fields without an answer keep the one that was suggested, and texts to read are left out.
    ///
    /// A regular expression that the form demands (XEP-0122 §3.2.4) is not looked at: one that somebody else wrote may
    /// take for ever. Who made the form does so.
    ///
    /// - Parameter answers: The values for each field that is answered, by its name; no values means none.
    /// - Throws: ``DataFormError``.
    public func filled(_ answers: [String: [String]]) throws(DataFormError) -> DataForm {
        guard kind == .form else { throw .notAForm }
        let names = Set(fields.compactMap { $0.kind == .fixed ? nil : $0.name })
        if let unknown = answers.keys.filter({ !names.contains($0) }).min() { throw .unknownField(unknown) }
        var filled: [Field] = []
        for field in fields {
            guard let name = field.name, field.kind != .fixed else { continue }
            var answer = field
            if let values = answers[name] { answer.values = values }
            if let reason = answer.unfitness(wasAnswered: answers[name] != nil) {
                throw .unfit(field: name, reason: reason)
            }
            guard !answer.values.isEmpty || !field.isRequired else { throw .missing(name) }
            // Without a value it is left out, unless it takes back what was suggested.
            guard !answer.values.isEmpty || !field.values.isEmpty else { continue }
            // What is private keeps its type, so that whoever shows or logs the answers knows (XEP-0004 §3.3).
            let kind = [.hidden, .textPrivate].contains(field.kind) ? field.kind : .textSingle
            filled.append(Field(name, kind, values: answer.values))
        }
        return DataForm(.submit, fields: filled)
    }

    /// The refusal to fill the form in.
    public static var cancelled: DataForm { DataForm(.cancel) }
}

extension DataForm.Field {
    /// Why the values do not fit; `nil` when they do. What the form suggests itself is not held against who keeps it.
    fileprivate func unfitness(wasAnswered: Bool) -> String? {
        guard wasAnswered else { return nil }
        if values.count > 1, !kind.isMultiple { return "takes one value" }
        switch kind {
        case .boolean where !values.isEmpty && flag == nil:
            return "takes true or false"
        case .jidSingle, .jidMulti:
            if let value = values.first(where: { (try? JID($0)) == nil }) {
                return "takes addresses: “\(value)” is none"
            }
        case .listSingle where validation?.isOpen != true, .listMulti where validation?.isOpen != true:
            let choices = Set(options.map(\.value))
            if let value = values.first(where: { !choices.contains($0) }) { return "has no option “\(value)”" }
        default:
            break
        }
        return values.lazy.compactMap { validation?.unfitness(of: $0, isPrivate: kind == .textPrivate) }.first
            ?? validation?.unfitness(ofCount: values.count, of: kind)
    }
}
