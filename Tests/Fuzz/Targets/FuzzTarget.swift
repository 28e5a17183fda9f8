// SPDX-License-Identifier: Apache-2.0

/// Something that reads what somebody else wrote, and what holds whatever that is.
struct FuzzTarget: Sendable {
    /// The name in commands and of the folder of its regressions.
    let name: String
    /// Inputs to begin with; the vectors, mostly.
    let seeds: @Sendable () -> [[UInt8]]
    /// Feeds an input; throws ``BrokenRule`` when something does not hold that must.
    let check: @Sendable ([UInt8]) throws -> Void

    /// All of them.
    static let all: [FuzzTarget] = [
        streamParser, stanza, router, streamMachine, jid, scram, password, base64, dateTime, controlFrame,
        configuration, terminal, identity, certificate, serviceRecord, form, styling, room, http, proxy, webSocket,
        address, uri, hostMeta,
    ]

    /// The one with a name.
    static func named(_ name: some StringProtocol) -> FuzzTarget? {
        all.first { $0.name == name }
    }
}

/// What did not hold.
struct BrokenRule: Error, CustomStringConvertible {
    let description: String
}

/// Throws when a condition does not hold.
func require(_ condition: Bool, _ rule: @autoclosure () -> String) throws(BrokenRule) {
    if !condition { throw BrokenRule(description: rule()) }
}

/// What an expression yields; an error of it means that a rule is broken.
func mustNotThrow<Value>(_ rule: @autoclosure () -> String, _ body: () throws -> Value) throws(BrokenRule) -> Value {
    do {
        return try body()
    } catch let error as BrokenRule {
        throw error
    } catch {
        throw BrokenRule(description: "\(rule()): \(error)")
    }
}

extension String {
    /// Whether the octets are the same; `==` takes what is canonically equivalent for equal.
    func isIdentical(to other: String) -> Bool { utf8.elementsEqual(other.utf8) }

    /// What could act upon a terminal, or be read otherwise than it stands.
    var hasControls: Bool {
        unicodeScalars.contains { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate: true
            default: scalar.properties.isBidiControl
            }
        }
    }
}
