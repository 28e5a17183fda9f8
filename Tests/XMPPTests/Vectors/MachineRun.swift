// SPDX-License-Identifier: Apache-2.0

import XMPPCore
import XMPPCrypto
import XMPPXML

@testable import XMPPProtocol

/// Chance that is none: ids and nonces are the same in every run.
struct FixedRandom: RandomSource {
    func bytes(_ count: Int) -> [UInt8] { (0..<max(0, count)).map { UInt8($0 % 251) } }
}

/// A parser and a machine, wired as the stream wires them, without a socket: the bytes of a server go in, what the
/// client would do comes out.
struct MachineRun {
    /// What a client did.
    struct Outcome: Equatable {
        /// First-level elements in the order sent, with `nil` for the end of the stream.
        var sent: [Element?] = []
        /// Stream headers sent.
        var headers: [StreamHeader] = []
        /// Stanzas handed to the application.
        var stanzas: [Element] = []
        var end: StreamEnd?
        /// Tokens that were kept.
        var tokens: [LoginToken] = []
        var management = StreamManagement()
        /// Whether something in the clear stood where TLS had to begin.
        var sawPlaintextForTLS = false

        /// The elements sent.
        var elements: [Element] { sent.compactMap { $0 } }
        /// The messages delivered.
        var messages: [Element] { stanzas.filter { $0.localName == "message" } }
        /// Whether anything of SASL was sent but its end.
        var sentCredentials: Bool {
            elements.contains { [Namespace.sasl, Namespace.sasl2].contains($0.namespace) && $0.localName != "abort" }
        }
    }

    var machine: StreamStateMachine
    private(set) var outcome = Outcome()
    private var parser = XMLStreamParser()
    private var isSecuring = false
    /// What the server sends as `additional-data` to prove itself, where it has to.
    var verifier = ""

    /// The server's header, where a file does not bring its own.
    static let header = Array(
        ("<?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'"
            + " from='example.net' id='s1' version='1.0'>").utf8)

    /// Makes a run for `romeo@example.net`.
    init(policy: SASLPolicy = SASLPolicy()) throws {
        let account = SASLAccount(username: "romeo", password: SecretBytes(Array("secret".utf8)))
        var authentication = SASLAuthentication(credentials: .account(account), policy: policy)
        authentication.wantsToken = true
        authentication.time = DateTime(millisecondsSinceEpoch: 1_700_000_000_000)
        machine = StreamStateMachine(
            configuration: StreamConfiguration(
                account: try JID("romeo@example.net"), resource: "orchard",
                authentication: authentication,
                random: FixedRandom()))
    }

    // MARK: Feeding

    /// Bytes of the server arrive, in one read.
    mutating func read(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        while !rest.isEmpty, !machine.hasEnded, !isSecuring {
            let result = parser.feed(rest, machine.isNegotiating ? .oneEvent : .batch)
            rest = rest.dropFirst(result.consumed)
            for event in result.events { perform(machine.received(event)) }
            if let error = result.error {
                perform(machine.parserFailed(error))
                break
            }
            if result.consumed == 0 && result.events.isEmpty { break }
        }
        if isSecuring, let first = rest.first, !machine.hasEnded {
            // RFC 6120 §5.4.3.3: what follows `<proceed/>` is TLS, and TLS begins with a handshake record.
            outcome.sawPlaintextForTLS = first != 0x16
            if outcome.sawPlaintextForTLS { perform(machine.transportEnded("this is not TLS")) }
        }
        outcome.management = machine.management
    }

    /// The server closed the connection.
    mutating func readEnd() {
        let management = machine.management
        perform(machine.inputEnded())
        outcome.management = management
    }

    mutating func fire(_ timer: StreamTimer) { perform(machine.timerFired(timer)) }

    mutating func send(_ element: Element) { perform(machine.send(element)) }

    private mutating func perform(_ actions: [StreamAction]) {
        for action in actions {
            switch action {
            case .openStream(let header): outcome.headers.append(header)
            case .send(let element): outcome.sent.append(element)
            case .endStream: outcome.sent.append(nil)
            case .restartParser(let limits): parser = XMLStreamParser(limits: limits)
            case .limit(let limits): parser.limits = limits
            case .startTLS: isSecuring = true
            case .deriveKeys(let work):
                let keys = Result { () throws(CryptoError) in try work.keys() }
                perform(machine.keysDerived(keys, for: work))
            case .emit(.stanza(let element)):
                outcome.stanzas.append(element)
                machine.handledStanza()
            case .emit(.ended(let end)): outcome.end = end
            case .emit(.token(let token?)): outcome.tokens.append(token)
            case .emit, .sendWhitespace, .schedule, .cancel, .closeTransport, .abortTransport: break
            }
        }
    }

    // MARK: Getting there

    /// The state in which a row of the tables begins. Nothing that led there counts as outcome.
    static func at(_ row: VectorRow) throws -> MachineRun {
        // An account that has logged in with SCRAM before (XEP-0474).
        var policy = SASLPolicy()
        policy.hasUsedSCRAM = row.state.contains("previously used SCRAM")
        var run = try MachineRun(policy: policy)
        switch row.phase {
        case "pre-tls": run.perform(run.machine.transportConnected(directTLS: false, peerIsLoopback: false))
        case "post-tls": run.secure()
        case "sasl": try run.offerMechanisms(row.state)
        case "sasl2": try run.offerSASL2(row.state)
        case "parser": try run.authenticate()
        case "post-sasl":
            try run.authenticate()
            if row.state == "bind sent" {
                run.receiveHeader()
                try run.receive("<stream:features>\(bind)</stream:features>")
            }
        case "bound": try run.establish(features: bind)
        default: try run.manage(row.state)
        }
        run.outcome = Outcome()
        return run
    }

    /// Reads the pieces with a parser of its own, which has read a header already where the bytes do not bring one.
    func reading(_ pieces: [ArraySlice<UInt8>], bringsHeader: Bool) -> MachineRun {
        var run = self
        run.parser = XMLStreamParser(limits: parser.limits)
        if !bringsHeader { _ = run.parser.feed(Self.header[...], .batch) }
        for piece in pieces { run.read(piece) }
        return run
    }

    private static let bind = "<bind xmlns='\(Namespace.bind)'/>"
    private static let managed = bind + "<sm xmlns='\(Namespace.streamManagement)'/>"

    /// The answer to the request for a resource.
    static let bound =
        "<iq xmlns='jabber:client' type='result' id='\(FixedRandom().identifier())'><bind xmlns='\(Namespace.bind)'>"
        + "<jid>romeo@example.net/orchard</jid></bind></iq>"

    mutating func receive(_ xml: String) throws {
        perform(machine.received(.element(try Element.parse(xml))))
    }

    mutating func receiveHeader() {
        let root = Element(
            "stream", namespace: Namespace.streams, attributes: ["from": "example.net", "version": "1.0"])
        perform(machine.received(.streamOpened(root, contentNamespace: Namespace.client)))
    }

    mutating func secure(bindings: [ChannelBindingData] = []) {
        perform(machine.transportConnected(directTLS: true, peerIsLoopback: false))
        perform(machine.tlsEstablished(.verifiedTLS(channelBindings: bindings)))
        isSecuring = false
    }

    private mutating func offerMechanisms(_ state: String) throws {
        secure()
        receiveHeader()
        let offered =
            state.contains("SHA-512") ? ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] : ["PLAIN", "SCRAM-SHA-1"]
        let list = offered.map { "<mechanism>\($0)</mechanism>" }.joined()
        try receive("<stream:features><mechanisms xmlns='\(Namespace.sasl)'>\(list)</mechanisms></stream:features>")
    }

    private mutating func authenticate() throws {
        secure()
        receiveHeader()
        try receive(
            "<stream:features><mechanisms xmlns='\(Namespace.sasl)'><mechanism>PLAIN</mechanism></mechanisms>"
                + "</stream:features>")
        try receive("<success xmlns='\(Namespace.sasl)'/>")
    }

    private mutating func establish(features: String) throws {
        try authenticate()
        receiveHeader()
        try receive("<stream:features>\(features)</stream:features>")
        try receive(Self.bound)
    }

    /// Stream Management as the tables' header describes it, or before the server's agreement.
    mutating func manage(_ state: String) throws {
        try establish(features: state == "bound without SM" ? Self.bind : Self.managed)
        guard state.hasPrefix("sm") || state == "resume sent" else { return }
        try receive("<enabled xmlns='\(Namespace.streamManagement)' id='sm1' resume='true'/>")
        for _ in 0..<3 { send(Element("message", namespace: Namespace.client)) }
        try receive("<a xmlns='\(Namespace.streamManagement)' h='1'/>")
        for _ in 0..<2 { try receive("<message from='juliet@example.com/b'/>") }
        if state.contains("2^32") {
            machine.management = StreamManagement(sent: 1, acknowledged: .max - 1, handled: 0)
        }
        if state == "resume sent" { try askAgain() }
    }

    /// The connection is lost, and another one begins.
    mutating func reconnect() {
        perform(machine.transportEnded(""))
        machine = StreamStateMachine(configuration: machine.configuration, resuming: machine.resumableState)
    }

    /// The connection is lost, and the session asked for on another one.
    private mutating func askAgain() throws {
        reconnect()
        try authenticate()
        receiveHeader()
        try receive("<stream:features>\(Self.managed)</stream:features>")
    }
}
