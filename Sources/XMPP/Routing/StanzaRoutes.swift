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
        /// By the stream itself, which has something to change: a roster push.
        case stream(@Sendable (isolated XMPPStream, IQ) -> Void)
    }

    let provenance: Provenance
    let handler: Handler
}

/// What takes children of messages.
struct MessageRoute: Sendable {
    /// What becomes of a message because of one of its children.
    enum Verdict: Sendable {
        /// It goes on.
        case delivered
        /// It has been dealt with.
        case dropped
        /// It is reported as this, and not as a message.
        case event(XMPPEvent)
    }

    /// Looks at a child of a message whose sender is filled in and believed; of those with the same name at the first
    /// alone.
    typealias Handler = @Sendable (isolated XMPPStream, Message, Element) -> Verdict

    /// Which of the stream's routes it is: a bit of its own.
    let bit: UInt64
    let provenance: Provenance
    let handler: Handler
}

/// The routes of a stream: one look-up for each request, and for each child of a message.
struct StanzaRoutes: Sendable {
    /// Routes for children of messages: a bit for each. Only the library adds them.
    private static let maximumMessageRoutes = UInt64.bitWidth

    private struct Key: Hashable, Sendable {
        let kind: IQ.Kind
        let payload: ElementName
    }

    private var routes: [Key: RequestRoute] = [:]
    private var messageRoutes = RouteTable<MessageRoute>()
    private var messageRouteCount = 0
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
        announce([feature].compactMap { $0 })
    }

    /// Sets the route for children of messages; otherwise as ``add(_:_:namespace:from:feature:handler:)``. A child
    /// whose message comes from somebody who is not believed is passed over. So is each further child of a message with
    /// the same name: nobody gets more than one answer to one message, or tells more than one thing by it.
    mutating func addMessage(
        _ localName: String, namespace: String, from provenance: Provenance, feature: String?,
        handler: @escaping MessageRoute.Handler
    ) {
        precondition(messageRouteCount < Self.maximumMessageRoutes, "no bit left for a route")
        messageRoutes.set(
            ElementName(localName, namespace: namespace),
            MessageRoute(bit: 1 << messageRouteCount, provenance: provenance, handler: handler))
        messageRouteCount += 1
        announce([feature].compactMap { $0 })
    }

    /// Names features in service discovery.
    mutating func announce(_ features: [String]) {
        self.features = Set(self.features + features).sorted()
    }

    /// The route for a child of a message.
    func messageRoute(_ child: Element) -> MessageRoute? { messageRoutes[child] }

    /// The route for a request.
    func route(_ kind: IQ.Kind, _ payload: ElementName) -> RequestRoute? {
        routes[Key(kind: kind, payload: payload)]
    }

    /// The routes that every stream has.
    mutating func addStandardRoutes() {
        add(
            .set, "query", namespace: Namespace.roster, from: .ownAccount, feature: nil,
            handler: .stream { (stream, request) in stream.received(rosterPush: request) })
        addPing()
        addSoftwareVersion()
        addEntityTime()
        addServiceDiscovery()
        addBlockList()
        addMessageCarbons()
        addMessageDeliveryReceipts()
        addDisplayedMarkers()
        addDirectInvitations()
        addMessageArchive()
        addMultiUserChat()
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

    /// Answers requests with a typed payload; otherwise as ``answer(_:_:namespace:from:with:)``. A payload that cannot
    /// be read is answered with `bad-request` without asking the handler.
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
