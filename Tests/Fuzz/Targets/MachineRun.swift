// SPDX-License-Identifier: Apache-2.0

import XMPPCore
import XMPPCrypto

@testable import XMPPProtocol
@testable import XMPPXML

/// A stream's machine, driven by letters, and watched: it is told only what its owner would tell it.
struct MachineRun {
    private(set) var machine: StreamStateMachine
    private var watch: MachineWatch
    private var login = MachineLogin()
    private var lastID = "none"

    /// - Parameter options: Bit 0: plaintext is permitted on loopback. Bit 1: keepalive by white space. Bit 2: without
    ///   Stream Management. Bit 3: without an account. Bit 4: with a token, and a memory of what the server offered.
    init(options: UInt8 = 0) {
        let account = (try? JID("romeo@example.net")) ?? { preconditionFailure("the account is a JID") }()
        let credentials: SASLCredentials =
            options & 8 == 0
            ? .account(SASLAccount(username: "romeo", password: SecretBytes("secret"))) : .anonymous
        var configuration = StreamConfiguration(
            account: account, resource: "orchard", authentication: SASLAuthentication(credentials: credentials),
            security: options & 1 == 0 ? .tlsRequired : .plaintextOnLoopback, usesStreamManagement: options & 4 == 0,
            keepalive: options & 2 == 0 ? .ping(after: .seconds(300)) : .whitespace(every: .seconds(60)),
            random: CountingRandom())
        configuration.authentication.wantsToken = true
        if options & 16 != 0 { configuration.remember() }
        machine = StreamStateMachine(configuration: configuration)
        watch = MachineWatch(permitsLoopback: options & 1 != 0)
    }

    /// A machine whose session is established, with Stream Management on.
    static func establishedMachine() throws -> StreamStateMachine {
        var run = MachineRun()
        for letter in "ChfPThFshHbn".unicodeScalars { try run.step(letter) }
        try require(run.machine.isEstablished, "no session comes about")
        return run.machine
    }

    /// A first-level element arrives, written as XML.
    mutating func receive(_ xml: some Sequence<UInt8>) throws {
        guard let element = try? Element.parse(xml) else { return }
        try receive(.element(element))
    }

    private mutating func receive(_ event: XMLStreamEvent) throws {
        // Without a stream nothing is parsed.
        guard watch.isStreamOpen || watch.hasEnded else { return }
        try watch(machine.received(event))
    }

    private mutating func watch(_ actions: [StreamAction]) throws {
        for case .send(let element) in actions where element.localName == "iq" { lastID = element["id"] ?? lastID }
        for action in actions { login.saw(action) }
        try watch.saw(actions)
        try require(machine.hasEnded == watch.hasEnded, "the machine ended without saying so")
        try require(
            machine.isEstablished == (watch.isEstablished && !watch.hasSentEnd && !watch.hasEnded), "established or not"
        )
    }

    /// Something happens.
    mutating func step(_ letter: Unicode.Scalar) throws {
        switch letter {
        case "C", "L", "D": try connect(letter)
        case "T", "B": try secure(letter)
        case "I": try watch(watch.isConnected ? machine.inputEnded() : [])
        case "X": try watch(watch.isConnected ? machine.transportEnded("gone") : [])
        case "p":
            try watch(watch.isStreamOpen || watch.hasEnded ? machine.parserFailed(.notWellFormed("letter")) : [])
        case "k": machine.handledStanza()
        case "w":
            let actions = machine.send(Element("message", namespace: Namespace.client))
            try watch(actions)
        case "W": try watch(machine.burstSent())
        case "u", "U": try watch(watch.isStreamOpen ? machine.readEnded(midElement: letter == "U") : [])
        case "q": try watch(machine.close())
        case "0"..."6":
            let timer = StreamTimer.allCases[Int(letter.value - 0x30)]
            if watch.fires(timer) { try watch(machine.timerFired(timer)) }
        case "y": try receive(login.challenge().utf8)
        case "Y":
            guard let success = try login.success() else { return }
            watch.proved()
            try receive(success.utf8)
        case "K", "R":
            guard let (work, outcome) = login.nextKeys(fails: letter == "R") else { return }
            try watch(machine.keysDerived(outcome, for: work))
        case "h", "j", "J": try receive(header(letter))
        case "x": try receive(.streamClosed)
        default: if let xml = element(letter) { try receive(xml.utf8) }
        }
    }

    private mutating func connect(_ letter: Unicode.Scalar) throws {
        guard !watch.isConnected else { return }
        watch.connected(isLoopback: letter == "L")
        try watch(machine.transportConnected(directTLS: letter == "D", peerIsLoopback: letter == "L"))
    }

    private mutating func secure(_ letter: Unicode.Scalar) throws {
        guard watch.isSecuring else { return }
        watch.secured()
        let binding = ChannelBindingData(type: .tlsExporter, bytes: Array(0..<32))
        try watch(machine.tlsEstablished(.verifiedTLS(channelBindings: letter == "B" ? [binding] : [])))
    }

    private func header(_ letter: Unicode.Scalar) -> XMLStreamEvent {
        let root = Element(
            "stream", namespace: Namespace.streams,
            attributes: [
                "from": letter == "J" ? "example.org" : "example.net", "version": letter == "j" ? "0.9" : "1.0",
            ])
        return .streamOpened(root, contentNamespace: Namespace.client)
    }

    /// What a server may say at one point or another.
    private func element(_ letter: Unicode.Scalar) -> String? {
        switch letter {
        case "f": Self.features("<starttls xmlns='\(Namespace.startTLS)'><required/></starttls>")
        case "F": Self.features(Self.mechanisms("PLAIN", "ANONYMOUS"))
        case "G": Self.features(Self.mechanisms("SCRAM-SHA-256-PLUS", "SCRAM-SHA-1", "PLAIN"))
        case "H": Self.features("<bind xmlns='\(Namespace.bind)'/><sm xmlns='\(Namespace.streamManagement)'/>")
        case "S":
            Self.features("<bind xmlns='\(Namespace.bind)'/><session xmlns='\(Namespace.session)'/>")
        case "g": Self.features(Self.modern)
        case "M":
            "<success xmlns='\(Namespace.sasl2)'><authorization-identifier>romeo@example.net/orchard"
                + "</authorization-identifier><bound xmlns='\(Namespace.bind2)'>"
                + "<enabled xmlns='\(Namespace.streamManagement)'/></bound></success>"
        case "v": "<failure xmlns='\(Namespace.sasl2)'><not-authorized xmlns='\(Namespace.sasl)'/></failure>"
        case "P": "<proceed xmlns='\(Namespace.startTLS)'/>"
        case "Q": "<failure xmlns='\(Namespace.startTLS)'/>"
        case "c": "<challenge xmlns='\(Namespace.sasl)'>=</challenge>"
        case "s": "<success xmlns='\(Namespace.sasl)'/>"
        case "a": "<failure xmlns='\(Namespace.sasl)'><not-authorized/></failure>"
        case "i": "<failure xmlns='\(Namespace.sasl)'><invalid-mechanism/></failure>"
        case "b":
            "<iq type='result' id='\(lastID)'><bind xmlns='\(Namespace.bind)'><jid>romeo@example.net/orchard</jid>"
                + "</bind></iq>"
        case "e":
            "<iq type='error' id='\(lastID)'><error type='cancel'>"
                + "<conflict xmlns='\(Namespace.stanzaErrors)'/></error></iq>"
        case "n": "<enabled xmlns='\(Namespace.streamManagement)'/>"
        case "N": "<failed xmlns='\(Namespace.streamManagement)'/>"
        case "r": "<r xmlns='\(Namespace.streamManagement)'/>"
        case "A": "<a xmlns='\(Namespace.streamManagement)' h='\(machine.management.sent)'/>"
        case "z": "<a xmlns='\(Namespace.streamManagement)' h='4000000000'/>"
        case "m": "<message from='juliet@example.org'><body>hi</body></message>"
        case "E": "<stream:error><conflict xmlns='\(Namespace.streamErrors)'/></stream:error>"
        default: nil
        }
    }

    /// SASL2 with all that goes along.
    static let modern =
        "<authentication xmlns='\(Namespace.sasl2)'><mechanism>PLAIN</mechanism><mechanism>SCRAM-SHA-1</mechanism>"
        + "<inline><bind xmlns='\(Namespace.bind2)'><inline><feature var='\(Namespace.streamManagement)'/></inline>"
        + "</bind><fast xmlns='\(Namespace.fast)'><mechanism>HT-SHA-256-NONE</mechanism></fast></inline>"
        + "</authentication>"

    fileprivate static func features(_ content: String) -> String { "<stream:features>\(content)</stream:features>" }

    private static func mechanisms(_ names: String...) -> String {
        let offers = names.map { "<mechanism>\($0)</mechanism>" }.joined()
        return "<mechanisms xmlns='\(Namespace.sasl)'>\(offers)</mechanisms>"
    }
}

extension StreamConfiguration {
    /// What an earlier login left.
    fileprivate mutating func remember() {
        func features(_ content: String) -> StreamFeatures? {
            (try? Element.parse(MachineRun.features(content).utf8)).map(StreamFeatures.init)
        }
        authentication.token = LoginToken(
            mechanism: SASLMechanismName(rawValue: "HT-SHA-256-NONE"), bytes: Array("t0k".utf8),
            expiry: DateTime(millisecondsSinceEpoch: 4_000_000_000_000))
        var offered = OfferedFeatures()
        offered.beforeTLS = features("<starttls xmlns='\(Namespace.startTLS)'/>")
        offered.beforeLogin = features(MachineRun.modern)
        offered.session = features("<bind xmlns='\(Namespace.bind)'/>")
        expected = offered
    }
}
