// SPDX-License-Identifier: Apache-2.0

package import XMPP

/// What the command line of an example says: whom to log in as and where, and the words that are left.
package struct Options {
    /// How the options are explained, for the message that a mistake gets.
    package static let usage = """
        options:
          --jid ADDRESS       the account; without one, or with --demo, the example plays on a server of its own
          --password-fd N     read the password from this descriptor (else from the variable XMPP_PASSWORD)
          --host HOST         connect here instead of where DNS says; wss://HOST/PATH is a WebSocket
          --port N            the port at that host
          --direct-tls        TLS from the first byte at that host
          --ca FILE           trust the authorities in this PEM file instead of the system's
          --log               write what goes over the wire to standard error, secrets masked
          --demo              run against a server inside of this process, and end
        """

    /// Whether to play on a server inside of this process.
    package private(set) var isDemo = false
    /// The words that are no options.
    package private(set) var words: [String] = []

    private var jid: JID?
    private var host: String?
    private var port: UInt16?
    private var usesDirectTLS = false
    private var logs = false
    private var authorities: String?
    private var passwordDescriptor: Int32?

    /// Reads a command line.
    ///
    /// - Throws: ``UsageError``.
    package init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--demo": isDemo = true
            case "--direct-tls": usesDirectTLS = true
            case "--log": logs = true
            case "--jid": jid = try JID(Self.value(of: argument, &rest))
            case "--host": host = try Self.value(of: argument, &rest)
            case "--port": port = try Self.number(of: argument, &rest)
            case "--ca": authorities = try Self.value(of: argument, &rest)
            case "--password-fd": passwordDescriptor = try Self.number(of: argument, &rest)
            case _ where argument.hasPrefix("-"): throw UsageError("\(argument) is no option\n\(Self.usage)")
            default: words.append(argument)
            }
        }
        if jid == nil { isDemo = true }
    }

    /// The account to log in as.
    ///
    /// - Throws: ``UsageError`` when no address or no password was given.
    package func configuration() throws -> XMPPConfiguration {
        guard let jid else { throw UsageError("--jid is missing\n\(Self.usage)") }
        var configuration = XMPPConfiguration(jid: jid, password: try Secrets.password(from: passwordDescriptor))
        if let host, host.contains("://") {
            guard let address = WebSocketAddress(host) else { throw UsageError("\(host) is no wss:// address") }
            configuration.webSocket = address
        } else {
            configuration.host = host
        }
        configuration.port = port
        configuration.hostSecurity = usesDirectTLS ? .directTLS : .startTLS
        configuration.certificateAuthorityFile = authorities
        if logs {
            configuration.logLevel = .wire
            configuration.log = { complain($0.text.printable(limit: 10_000)) }
        }
        return configuration
    }

    private static func value(of option: String, _ rest: inout ArraySlice<String>) throws -> String {
        guard let value = rest.popFirst() else { throw UsageError("\(option) needs a value\n\(usage)") }
        return value
    }

    private static func number<Number: FixedWidthInteger>(
        of option: String, _ rest: inout ArraySlice<String>
    ) throws -> Number {
        guard let number = Number(try value(of: option, &rest)), number >= 0 else {
            throw UsageError("\(option) needs a number\n\(usage)")
        }
        return number
    }
}

/// A command line that makes no sense, with what to do about it.
package struct UsageError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
