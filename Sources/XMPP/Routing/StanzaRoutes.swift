// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
internal import XMPPProtocol
public import XMPPXML

/// What a handler of requests may know besides the request.
public struct RequestContext: Sendable {
    /// The full address of the session.
    public let account: JID
    /// What this client calls itself.
    public let software: SoftwareIdentity
    /// What kind of client this is.
    let clientType: String
    /// The namespaces that service discovery names, sorted.
    let features: [String]
}

/// What answers requests with one payload.
struct RequestRoute: Sendable {
    /// How the answer is found.
    enum Handler: Sendable {
        /// At once, from the request alone.
        case immediate(@Sendable (IQ, RequestContext) throws(StanzaError) -> Element?)
        /// In a task of its own.
        case asynchronous(@Sendable (IQ, RequestContext) async throws -> Element?)
        /// By the stream itself: a roster push.
        case rosterPush
    }

    let provenance: Provenance
    let handler: Handler
}

/// The routes of a stream: one look-up for each request.
struct StanzaRoutes: Sendable {
    private struct Key: Hashable, Sendable {
        let kind: IQ.Kind
        let payload: ElementName
    }

    private var routes: [Key: RequestRoute] = [:]
    /// The namespaces that service discovery names as features, sorted.
    private(set) var features: [String] = []

    /// Sets the route for requests of a kind with a payload. There is no default for `provenance`: whoever adds a route
    /// says whose requests it believes.
    ///
    /// - Parameter feature: What service discovery names; `nil` means nothing.
    mutating func add(
        _ kind: IQ.Kind, _ localName: String, namespace: String, from provenance: Provenance, feature: String?,
        handler: RequestRoute.Handler
    ) {
        routes[Key(kind: kind, payload: ElementName(localName, namespace: namespace))] = RequestRoute(
            provenance: provenance, handler: handler)
        if let feature { features = Set(features + [feature]).sorted() }
    }

    /// The route for a request.
    func route(_ kind: IQ.Kind, _ payload: ElementName) -> RequestRoute? {
        routes[Key(kind: kind, payload: payload)]
    }

    /// The routes that every stream has.
    mutating func addStandardRoutes() {
        add(.set, "query", namespace: Namespace.roster, from: .ownAccount, feature: nil, handler: .rosterPush)
        addPing()
        addSoftwareVersion()
        addEntityTime()
        addServiceDiscovery()
    }
}

extension XMPPStream {
    /// How many requests may be answered by tasks at once; 100. Further ones get `resource-constraint`.
    static let maximumAnswersInProgress = 100

    /// Answers requests with a payload of one's own, and names its namespace in service discovery. To be called before
    /// ``connect()``, so that the capabilities in the first presence are right.
    ///
    /// ```swift
    /// await stream.answer(.get, "temperature", namespace: "urn:example:sensor", from: .contacts) { request, _ in
    ///     Element("temperature", namespace: "urn:example:sensor", text: "21")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - kind: `get` or `set`.
    ///   - localName: The local name of the request's child.
    ///   - namespace: Its namespace.
    ///   - provenance: Whose requests are believed; everybody else is told that there is no such service.
    ///   - handler: Finds the answer's child, `nil` for an empty result. A `StanzaError` that it throws is sent back;
    ///     any other error becomes `internal-server-error`.
    public func answer(
        _ kind: IQ.Kind, _ localName: String, namespace: String, from provenance: Provenance,
        with handler: @escaping @Sendable (IQ, RequestContext) async throws -> Element?
    ) {
        routes.add(
            kind, localName, namespace: namespace, from: provenance, feature: namespace,
            handler: .asynchronous(handler))
    }

    /// Answers requests with a typed payload; otherwise as ``answer(_:_:namespace:from:with:)``. A payload that cannot be read
    /// is answered with `bad-request` without asking the handler.
    public func answer<Question: StanzaPayload>(
        _ kind: IQ.Kind, _ type: Question.Type, from provenance: Provenance,
        with handler: @escaping @Sendable (Question, IQ) async throws -> (any StanzaPayload)?
    ) {
        let name = Question.elementName
        answer(kind, name.localName, namespace: name.namespace, from: provenance) { request, _ in
            guard let question = request.payload(Question.self) else { throw StanzaError.badRequest }
            return try await handler(question, request)?.element
        }
    }
}
