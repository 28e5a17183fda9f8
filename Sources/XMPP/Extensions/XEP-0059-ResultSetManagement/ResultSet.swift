// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// Which part of a long list is asked for (XEP-0059 §2).
public struct ResultSetRequest: StanzaPayload, Hashable {
    /// The namespace of requests and answers.
    public static let namespace = "http://jabber.org/protocol/rsm"
    /// The name of the `<set/>` element.
    public static let elementName = ElementName("set", namespace: namespace)

    /// Where a page begins.
    public enum Position: Sendable, Hashable {
        /// At the beginning of the list.
        case start
        /// Behind the item with this id.
        case after(String)
        /// Just before the item with this id, going backwards.
        case before(String)
        /// The last page of the list.
        case end
        /// At this place in the list, counted from 0.
        case index(Int)
    }

    /// How many items are wanted at most; 0 asks for the number of items alone.
    public var maximum: Int?
    /// Where the page begins.
    public var position: Position

    /// Makes a request.
    public init(maximum: Int? = nil, _ position: Position = .start) {
        self.maximum = maximum
        self.position = position
    }

    /// Reads a `<set/>` element; `nil` for numbers that are none.
    public init?(_ element: Element) {
        guard element.name == Self.elementName else { return nil }
        func text(_ name: String) -> String? { element.firstChild(name, namespace: Self.namespace)?.text }
        self.init()
        if let max = text("max") {
            guard let number = Int(max), number >= 0 else { return nil }
            maximum = number
        }
        if let id = text("after") {
            position = .after(id)
        } else if let id = text("before") {
            position = id.isEmpty ? .end : .before(id)
        } else if let place = text("index") {
            guard let number = Int(place), number >= 0 else { return nil }
            position = .index(number)
        }
    }

    /// The `<set/>` element.
    public var element: Element {
        var set = Element(Self.elementName)
        func append(_ name: String, _ text: String) {
            set.append(Element(name, namespace: Self.namespace, text: text))
        }
        if let maximum { append("max", String(maximum)) }
        switch position {
        case .start: break
        case .after(let id): append("after", id)
        case .before(let id): append("before", id)
        case .end: append("before", "")
        case .index(let index): append("index", String(index))
        }
        return set
    }
}

/// Which part of a long list was answered (XEP-0059 §2).
public struct ResultSet: StanzaPayload, Hashable {
    /// The name of the `<set/>` element.
    public static let elementName = ResultSetRequest.elementName

    /// The id of the page's first item; `nil` when the page is empty.
    public var first: String?
    /// The place of that item in the list, counted from 0.
    public var index: Int?
    /// The id of the page's last item; `nil` when the page is empty.
    public var last: String?
    /// How many items the list has, as far as the answerer knows.
    public var count: Int?

    /// Makes an answer.
    public init(first: String? = nil, index: Int? = nil, last: String? = nil, count: Int? = nil) {
        self.first = first
        self.index = index
        self.last = last
        self.count = count
    }

    /// Reads a `<set/>` element; `nil` when only one end of the page is named. Numbers that are none count as missing.
    public init?(_ element: Element) {
        guard element.name == Self.elementName else { return nil }
        func child(_ name: String) -> Element? { element.firstChild(name, namespace: ResultSetRequest.namespace) }
        func number(_ text: String?) -> Int? { text.flatMap { Int($0) }.flatMap { $0 < 0 ? nil : $0 } }
        self.init(
            first: child("first")?.text, index: number(child("first")?["index"]), last: child("last")?.text,
            count: number(child("count")?.text))
        guard (first == nil) == (last == nil) else { return nil }
    }

    /// The `<set/>` element.
    public var element: Element {
        var set = Element(Self.elementName)
        if let first {
            var child = Element("first", namespace: ResultSetRequest.namespace, text: first)
            child["index"] = index.map(String.init)
            set.append(child)
        }
        if let last { set.append(Element("last", namespace: ResultSetRequest.namespace, text: last)) }
        if let count { set.append(Element("count", namespace: ResultSetRequest.namespace, text: String(count))) }
        return set
    }

    /// The request for the page behind this one; `nil` when this page is empty, which ends the list (XEP-0059 §2.2).
    public func next(maximum: Int? = nil) -> ResultSetRequest? {
        last.map { ResultSetRequest(maximum: maximum, .after($0)) }
    }
}
