// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPXML

extension DataForm {
    /// One question, answer or cell (XEP-0004 §3.2).
    public struct Field: Sendable, Hashable {
        /// What kind of answer a field takes (XEP-0004 §3.3). One that is not known is treated as ``textSingle``.
        public struct Kind: RawRepresentable, Sendable, Hashable {
            /// The name on the wire.
            public let rawValue: String

            /// Takes a name from the wire.
            public init(rawValue: String) {
                self.rawValue = rawValue
            }

            /// Yes or no.
            public static let boolean = Kind(rawValue: "boolean")
            /// Text to read, and nothing to answer.
            public static let fixed = Kind(rawValue: "fixed")
            /// Not shown; what it holds is sent back.
            public static let hidden = Kind(rawValue: "hidden")
            /// Some addresses.
            public static let jidMulti = Kind(rawValue: "jid-multi")
            /// One address.
            public static let jidSingle = Kind(rawValue: "jid-single")
            /// Some of the options.
            public static let listMulti = Kind(rawValue: "list-multi")
            /// One of the options.
            public static let listSingle = Kind(rawValue: "list-single")
            /// Lines of text.
            public static let textMulti = Kind(rawValue: "text-multi")
            /// One line of text, not to be shown while it is typed.
            public static let textPrivate = Kind(rawValue: "text-private")
            /// One line of text.
            public static let textSingle = Kind(rawValue: "text-single")

            /// Whether a field of this kind may have several values.
            var isMultiple: Bool { [.jidMulti, .listMulti, .textMulti, .hidden, .fixed].contains(self) }
        }

        /// One of the answers to choose from.
        public struct Option: Sendable, Hashable {
            /// The answer.
            public var value: String
            /// What people see for it.
            public var label: String?

            /// Makes an option.
            public init(_ value: String, label: String? = nil) {
                self.value = value
                self.label = label
            }
        }

        /// The name that the answer goes by; `nil` for a text to read.
        public var name: String?
        /// The kind of answer.
        public var kind: Kind
        /// What people see for the name.
        public var label: String?
        /// More for people, such as a hint.
        public var explanation: String?
        /// Whether the form is not complete without an answer.
        public var isRequired: Bool
        /// The answer, or the one that is suggested.
        public var values: [String]
        /// The answers to choose from.
        public var options: [Option]
        /// What an answer has to be like (XEP-0122).
        public var validation: FieldValidation?
        /// What people look at or listen to first (XEP-0221).
        public var media: FieldMedia?

        /// Makes a field.
        public init(
            _ name: String?, _ kind: Kind = .textSingle, label: String? = nil, explanation: String? = nil,
            isRequired: Bool = false, values: [String] = [], options: [Option] = [], validation: FieldValidation? = nil,
            media: FieldMedia? = nil
        ) {
            self.name = name
            self.kind = kind
            self.label = label
            self.explanation = explanation
            self.isRequired = isRequired
            self.values = values
            self.options = options
            self.validation = validation
            self.media = media
        }

        /// Reads a `<field/>`. Every one can be read: what is missing has a default (XEP-0004 §3.2).
        init(_ element: Element) {
            self.init(
                element["var"], element["type"].map(Kind.init(rawValue:)) ?? .textSingle, label: element["label"])
            for case .element(let child) in element.nodes {
                switch (child.namespace, child.localName) {
                case (DataForm.namespace, "value"): values.append(child.text)
                case (DataForm.namespace, "required"): isRequired = true
                case (DataForm.namespace, "desc"): explanation = child.text
                case (DataForm.namespace, "option"):
                    guard let value = child.firstChild("value", namespace: DataForm.namespace) else { continue }
                    options.append(Option(value.text, label: child["label"]))
                case (FieldValidation.namespace, _): validation = FieldValidation(child)
                case (FieldMedia.namespace, _): media = media ?? FieldMedia(child)
                default: break
                }
            }
        }

        /// The `<field/>` element.
        var element: Element {
            var field = Element(
                "field", namespace: DataForm.namespace,
                attributes: ["var": name, "type": kind == .textSingle ? nil : kind.rawValue, "label": label])
            if let explanation { field.append(Element("desc", namespace: DataForm.namespace, text: explanation)) }
            if isRequired { field.append(Element("required", namespace: DataForm.namespace)) }
            if let validation { field.append(validation.element) }
            if let media { field.append(media.element) }
            for value in values { field.append(Element("value", namespace: DataForm.namespace, text: value)) }
            for option in options {
                let value = Element("value", namespace: DataForm.namespace, text: option.value)
                field.append(
                    Element(
                        "option", namespace: DataForm.namespace, attributes: ["label": option.label],
                        children: [value]))
            }
            return field
        }

        /// The truth value: `1` and `true`, `0` and `false`; `nil` for anything else.
        public var flag: Bool? {
            switch values.first {
            case "1", "true": true
            case "0", "false": false
            default: nil
            }
        }
    }
}
