// SPDX-License-Identifier: Apache-2.0

internal import XMPPTestSupport

/// What the command line asks for.
struct Arguments {
    static let usage = """
        usage: xmpp-loopback [--demo] [--domain D] [--port N] [--account USER:PASSWORD]…
                             [--mechanism NAME]… [--certificate FLAW]

        A small XMPP server on 127.0.0.1, for demonstrations and tests. It prints one line,
            ready host=127.0.0.1 port=N direct-tls-port=M websocket=wss://… ca=PATH domain=D
        (with --demo account=JID and password=PASSWORD too), and serves until SIGTERM, SIGINT, or the end of its standard
        input when that is a pipe.

          --demo               domain example.org, an account (address and password on the line), lively buddies
          --domain D           the domain to serve (default: localhost)
          --port N             the port (default: one that is free)
          --account U:P        an account; may be given again
          --mechanism NAME     a SASL mechanism to offer in place of the default ones; may be given again
          --certificate FLAW   a certificate that is wrong: \(flaws)
        """

    private static var flaws: String {
        TestCertificate.Flaw.allCases.map(\.rawValue).joined(separator: ", ")
    }

    /// What is wrong with a command line.
    struct Problem: Error {
        let text: String
    }

    var isDemo = false
    var wantsHelp = false
    var domain: String?
    var port: UInt16 = 0
    var accounts: [String: String] = [:]
    var options = LoopbackOptions()

    /// Reads the words behind the program's name.
    init(_ words: [String]) throws(Problem) {
        var rest = words[...]
        var mechanisms: [String] = []
        while let word = rest.popFirst() {
            switch word {
            case "--help", "-h": wantsHelp = true
            case "--demo": isDemo = true
            case "--domain": domain = try Self.value(of: word, &rest)
            case "--port":
                let text = try Self.value(of: word, &rest)
                guard let number = UInt16(text) else { throw Problem(text: "“\(text)” is not a port") }
                port = number
            case "--account": try addAccount(try Self.value(of: word, &rest))
            case "--mechanism": mechanisms.append(try Self.value(of: word, &rest))
            case "--certificate":
                let text = try Self.value(of: word, &rest)
                guard let flaw = TestCertificate.Flaw(rawValue: text) else {
                    throw Problem(text: "“\(text)” is none of \(Self.flaws)")
                }
                options.certificateFlaw = flaw
            default: throw Problem(text: "“\(word)” is not an option")
            }
        }
        if !mechanisms.isEmpty { options.mechanisms = mechanisms }
    }

    private mutating func addAccount(_ text: String) throws(Problem) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = parts.first, let password = parts.dropFirst().first, !name.isEmpty, !password.isEmpty else {
            throw Problem(text: "“\(text)” is not USER:PASSWORD")
        }
        accounts[String(name)] = String(password)
    }

    private static func value(of option: String, _ rest: inout ArraySlice<String>) throws(Problem) -> String {
        guard let value = rest.popFirst() else { throw Problem(text: "\(option) needs a value") }
        return value
    }
}
