// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// A password that is to be stored or to be set.
enum NewPassword {
    /// Letters and digits that nobody takes for one another; 32 of them, so that each is worth 5 bits.
    private static let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789")
    /// How many of them make a password; 120 bits.
    private static let length = 24

    /// A password from `--generate`, `--password-fd`, `JABBERCTL_PASSWORD` or the terminal; `nil` where there is none.
    static func find(_ context: CommandContext, of jid: String) throws(ControlError) -> String? {
        if context.line.has("generate") { return generated() }
        let environment = context.environment
        let deadline = context.options.timeout.map { Deadline(seconds: $0, environment) }
        defer { deadline?.cancel() }
        if let descriptor = context.options.passwordDescriptor {
            return try context.firstLine(of: descriptor)
        }
        if let password = environment.variables["JABBERCTL_PASSWORD"], !password.isEmpty { return password }
        guard context.options.mayAsk,
            let first = try environment.askPassword("Password for \(TerminalText.line(jid)): ")
        else { return nil }
        guard try environment.askPassword("Again: ") == first else {
            throw ControlError(.badData, "the two passwords differ")
        }
        return first
    }

    /// The same, where there has to be one.
    static func require(_ context: CommandContext, of jid: String) throws(ControlError) -> String {
        guard let password = try find(context, of: jid) else {
            throw ControlError(.usage, "no password was given; try --password-fd")
        }
        return password
    }

    private static func generated() -> String {
        var generator = SystemRandomNumberGenerator()
        return String((0..<length).map { _ in alphabet[Int(generator.next(upperBound: UInt(alphabet.count)))] })
    }
}
