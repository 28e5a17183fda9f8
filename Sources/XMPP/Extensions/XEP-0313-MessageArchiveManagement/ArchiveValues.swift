// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
internal import XMPPXML

/// Which messages of an archive are asked for (XEP-0313 §4.1).
public struct ArchiveFilter: Sendable, Hashable {
    /// The namespace of archives.
    public static let namespace = "urn:xmpp:mam:2"

    /// With whom they were exchanged; `nil` for everybody. A bare address stands for all its resources.
    public var with: JID?
    /// From this time on.
    public var since: DateTime?
    /// Until this time.
    public var until: DateTime?

    /// Makes a filter; without a condition it lets everything through.
    public init(with: JID? = nil, since: DateTime? = nil, until: DateTime? = nil) {
        self.with = with
        self.since = since
        self.until = until
    }

    /// The form that says so.
    var form: DataForm {
        var form = DataForm(submitting: ArchiveFilter.namespace, [:])
        for (name, value) in [
            ("with", with?.description), ("start", since?.description), ("end", until?.description),
        ] {
            if let value { form.fields.append(DataForm.Field(name, values: [value])) }
        }
        return form
    }
}

/// A message in an archive (XEP-0313 §4.2).
public struct ArchiveResult: Sendable, Hashable {
    /// What the archive calls it; of use in that archive alone.
    public var id: String
    /// The message. Who it says it is from was the archive's to check, not ours.
    public var message: Message
    /// When the archive got it.
    public var at: DateTime?

    /// Makes a result.
    public init(id: String, message: Message, at: DateTime? = nil) {
        self.id = id
        self.message = message
        self.at = at
    }

    /// Reads a `<result/>` element; `nil` when it does not hold exactly one message. What is forwarded inside of that
    /// message is left alone: an archive vouches for what it has stored, not for what is said there.
    init?(_ element: Element) {
        guard let id = element["id"], !id.isEmpty,
            let forwarded = element.children.lazy.compactMap({ ForwardedMessage($0) }).first
        else { return nil }
        self.init(id: id, message: forwarded.message, at: forwarded.delay?.stamp)
    }
}

/// A part of what an archive has (XEP-0313 §4.3).
public struct ArchivePage: Sendable, Hashable {
    /// The messages, oldest first.
    public var results: [ArchiveResult]
    /// Where the page lies in the whole.
    public var place: ResultSet
    /// Whether there is nothing behind it, in the direction of reading.
    public var isComplete: Bool
}
