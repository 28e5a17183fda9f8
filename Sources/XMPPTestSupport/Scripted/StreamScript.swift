// SPDX-License-Identifier: Apache-2.0

/// What a ``ScriptedServer`` says and waits for, step by step.
///
/// Written in Swift, or as text, one line a step (``init(text:)``): a test of a new fault is then one small file.
public struct StreamScript: Sendable, Hashable {
    /// How far an ordinary server would bring a client, before the script goes its own way.
    public enum Stage: String, Sendable, Hashable, CaseIterable, Comparable {
        /// The connection is accepted.
        case tcp
        /// TLS is agreed on; the client's next stream header is awaited.
        case tls
        /// The mechanisms were offered: SCRAM-SHA-256, SCRAM-SHA-1, PLAIN.
        case sasl
        /// The client is authenticated; its next stream header is awaited.
        case authed
        /// Resource binding was offered.
        case bind
        /// The client has a resource.
        case bound
        /// The roster was asked for and sent, and the client's first presence has come.
        case online

        /// The order in which a client goes through them.
        public static func < (left: Stage, right: Stage) -> Bool {
            (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
        }
    }

    /// One step.
    public enum Step: Sendable, Hashable {
        /// Behaves as an ordinary server until this stage.
        case advance(to: Stage)
        /// Sends text as it is; `{id}` stands for the id of the stanza that was awaited last.
        case send(String)
        /// Sends bytes as they are.
        case sendBytes([UInt8])
        /// What is sent from now on arrives in pieces of so many bytes; `nil` ends that.
        case slice(Int?)
        /// Waits until the client has sent a stream header or element whose text contains this.
        case await(String)
        /// Awaits the client's stream header, if one is due, and offers these SASL mechanisms.
        case offer(mechanisms: [String])
        /// Takes the client's authentication to its end, with so many iterations of SCRAM.
        case authenticate(iterations: Int)
        /// Waits.
        case pause(Duration)
        /// From now on the client's end of the stream is not answered; otherwise it is, as RFC 6120 §4.4 asks.
        case mute
        /// Closes the connection in an orderly way.
        case close
        /// Ends the connection with a reset.
        case reset
        /// Waits for the client's next connection.
        case reconnect
    }

    /// The steps in order.
    public var steps: [Step]
    /// Directions in a text that concern the test itself, such as `api` and `setup`: name and argument, in order.
    public var notes: [Note] = []

    /// A direction that the server leaves to the test.
    public struct Note: Sendable, Hashable {
        /// The first word behind `#!`.
        public var name: String
        /// What follows it.
        public var text: String

        /// Makes a note.
        public init(name: String, text: String) {
            self.name = name
            self.text = text
        }
    }

    /// Makes a script.
    public init(_ steps: Step...) {
        self.steps = steps
    }

    /// Makes a script.
    public init(_ steps: [Step]) {
        self.steps = steps
    }
}
