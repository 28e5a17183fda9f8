// SPDX-License-Identifier: Apache-2.0

internal import JSONText
internal import XMPPTransport

extension ServerSurvey {
    /// One of the files in which a domain says over HTTPS where else its service is, and what became of asking for it.
    public struct Publication: Sendable, Hashable {
        /// Which file, in the order in which a login asks for them.
        public enum File: String, Sendable, Hashable, CaseIterable {
            /// In JSON: every place with ranks, names and keys (XEP-0487), or WebSockets alone (XEP-0156).
            case hostMeta2 = "host-meta.json"
            /// In XML: WebSockets (XEP-0156).
            case hostMeta = "host-meta"
        }

        /// What became of asking for it.
        public enum State: String, Sendable, Hashable, CaseIterable {
            /// Nobody asked: the place is given, it is switched off, or there is no way to web servers from here.
            case notAsked = "skipped"
            /// It is there, and of the kind that it must be.
            case found
            /// The web server has no such file.
            case absent
            /// The web server has something else in its place, or what it says cannot be read.
            case wrongType
            /// The web server speaks no TLS, none that is new enough, or sends on to a place without it.
            case notHTTPS
            /// The web server's certificate is made out to others: what it says is not believed, and not even asked
            /// for.
            case wrongName
            /// The web server's certificate is refused for another reason.
            case untrusted
            /// There is no web server, or it did not answer in time.
            case unreachable
        }

        /// A place that the file names (XEP-0487).
        public struct Place: Sendable, Hashable {
            /// Where it is and how it is secured.
            public var place: StreamPlace
            /// Places of a lower number come first.
            public var priority: Int
            /// The name that its certificate may be made out to in place of the domain.
            public var serverName: String

            /// Makes a place.
            public init(_ place: StreamPlace, priority: Int, serverName: String) {
                (self.place, self.priority, self.serverName) = (place, priority, serverName)
            }
        }

        /// Which file.
        public var file: File
        /// What became of it.
        public var state: State
        /// Why, as a clause; of a file that was found, what of it a login does not heed. It may quote the server.
        public var reason: String?
        /// What kind of document the web server says it is; `nil` where it says nothing.
        public var mediaType: String?
        /// The WebSockets that it names as XEP-0156 has it.
        public var webSockets: [String] = []
        /// Whether it names a place for BOSH (XEP-0206), which this library does not speak.
        public var hasBOSH = false
        /// For how long it may be relied on; `nil` where it is not of the kind of XEP-0487.
        public var lifetime: Duration?
        /// The places that it names as XEP-0487 has it, in the order in which a login would try them.
        public var places: [Place] = []
        /// The keys one of which its servers have (XEP-0487); none says nothing.
        public var pinnedKeys: [KeyFingerprint] = []

        /// Whether something in it should be corrected.
        var isFaulty = false

        /// Makes what is known of a file.
        public init(_ file: File, _ state: State, reason: String? = nil) {
            (self.file, self.state, self.reason) = (file, state, reason)
        }

        /// Whether the web server says that it is another kind of document than it is.
        var isMislabelled: Bool {
            guard state == .found, let mediaType else { return false }
            return !file.mediaTypes.contains(mediaType)
        }
    }
}

extension ServerSurvey.Publication.File {
    /// The path on the domain's web server (RFC 6415 §2, §3).
    var path: String {
        switch self {
        case .hostMeta2: HostMeta2.path
        case .hostMeta: HostMeta.path
        }
    }

    /// What it may be served as (RFC 6415 §2); the first is asked for.
    var mediaTypes: [String] {
        switch self {
        case .hostMeta2: ["application/json", "application/jrd+json"]
        case .hostMeta: ["application/xrd+xml", "application/xml", "text/xml"]
        }
    }
}

extension ServerSurvey.Publication {
    /// Why there is no file.
    init(_ file: File, _ failure: WebDocument.Failure) {
        let state: State
        switch failure {
        case .unreachable, .timedOut: state = .unreachable
        case .malformed: state = .wrongType
        case .status(_, let location):
            state = location?.lowercased().hasPrefix("http://") == true ? .notHTTPS : .absent
        case .insecure(let error):
            switch error {
            case .certificateNameMismatch: state = .wrongName
            case .selfSigned, .expired, .notYetValid, .untrustedIssuer, .keyNotPinned, .revoked, .certificateRejected:
                state = .untrusted
            case .notTLS, .versionTooOld, .plaintextInjected, .wrongApplicationProtocol, .renegotiationRefused,
                .handshakeFailed, .channelFailed:
                state = .notHTTPS
            case .timedOut, .connectionLost, .configuration: state = .unreachable
            }
        }
        self.init(file, state, reason: "\(failure)")
    }

    /// What is in a file, and the places that a login would try.
    ///
    /// - Parameters:
    ///   - file: Which file.
    ///   - contents: What the web server has under its name.
    ///   - isDelegating: Whether what XEP-0487 says is heeded.
    ///   - generator: Where the choice by weight comes from.
    static func read(
        _ file: File, _ contents: WebDocument.Contents, isDelegating: Bool,
        using generator: inout some RandomNumberGenerator
    ) -> (publication: ServerSurvey.Publication, targets: [ConnectionTarget]) {
        var publication = ServerSurvey.Publication(file, .found)
        publication.mediaType = contents.mediaType
        var notes: [String] = []
        let old: HostMeta
        switch file {
        case .hostMeta:
            guard let found = HostMeta(contents.bytes) else { return (publication.wrong("no XRD (RFC 6415 §2)"), []) }
            old = found
        case .hostMeta2:
            guard let object = (try? JSONReader.read(contents.bytes))?.objectValue else {
                return (publication.wrong("no JSON (RFC 6415 §3)"), [])
            }
            if let found = HostMeta2(object) {
                let targets = found.places(using: &generator)
                publication.take(found, targets, isDelegating: isDelegating)
                if isDelegating { return (publication, targets) }
            } else if object["xmpp"] != nil {
                notes.append("its \"xmpp\" does not say what XEP-0487 asks for, and is passed over")
            }
            old = HostMeta(object)
        }
        publication.webSockets = old.webSockets.map(\.description)
        publication.hasBOSH = old.namesBOSH
        if old.passedOver > 0 { notes.append(passedOver(old.passedOver, "not inside of TLS")) }
        if !notes.isEmpty {
            publication.isFaulty = true
            publication.reason = ([publication.reason].compactMap { $0 } + notes).joined(separator: "; ")
        }
        return (publication, old.webSockets.map(ConnectionTarget.init))
    }

    private mutating func take(_ found: HostMeta2, _ targets: [ConnectionTarget], isDelegating: Bool) {
        lifetime = found.lifetime
        pinnedKeys = found.pinnedKeys.compactMap { KeyFingerprint($0) }.sorted { $0.description < $1.description }
        places = targets.map { target in
            Place(
                StreamPlace(target), priority: Int(target.priority), serverName: target.delegation?.serverName ?? "")
        }
        hasBOSH = found.namesBOSH
        if !isDelegating {
            reason = "DNS has to prove the server: what XEP-0487 says is passed over"
        } else if found.passedOver > 0 {
            reason = Self.passedOver(found.passedOver, "incomplete")
            isFaulty = true
        }
    }

    private func wrong(_ what: String) -> ServerSurvey.Publication {
        var publication = self
        publication.state = .wrongType
        publication.reason = "the file is \(what)" + (mediaType.map { "; the web server calls it \($0)" } ?? "")
        return publication
    }

    private static func passedOver(_ count: Int, _ what: String) -> String {
        "\(count) \(count == 1 ? "link is" : "links are") \(what), and passed over"
    }
}
