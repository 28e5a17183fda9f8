// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

extension ControlError {
    /// The error as who typed a command understands it: the daemon calls parameters by the names that they have in its
    /// protocol, a person knows options and arguments.
    func inWords(of command: CommandSpec) -> ControlError {
        guard code == .badParameters else { return self }
        let words =
            command.options.map { ($0.parameterName, "--\($0.long)") }
            + command.arguments.map { ($0.parameterName, $0.name) }
        for (name, word) in words {
            let quoted = "\"\(name)\" "
            guard message.utf8.starts(with: quoted.utf8) else { continue }
            var error = self
            error.message = word + " " + String(message.unicodeScalars.dropFirst(quoted.unicodeScalars.count))
            return error
        }
        return self
    }
}
