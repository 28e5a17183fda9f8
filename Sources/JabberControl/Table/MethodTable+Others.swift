// SPDX-License-Identifier: Apache-2.0

/// A method of the control protocol that is no command.
///
/// Notifications of the daemon: `hello` (first: `product`, `version`, `api` {`min`, `max`}, `instance`), `event`
/// (`request`: the id of the running request, `event`: the object), `goodbye` (`error`: why it closes). Notification of
/// the client: `cancel` (`request`): the daemon ends that request and answers it.
package struct PlainMethod: Sendable {
    /// The method.
    package let name: String
    /// What it does, without a full stop.
    package let summary: String
    /// Its parameters.
    package let parameters: [FieldSpec]
    /// Those without which it is refused.
    package let required: [String]
    /// What it answers.
    package let result: [FieldSpec]
}

extension MethodTable {
    private static let session = FieldSpec("session", "object", "which session")
    private static let patience = FieldSpec("timeout", "number", "seconds after which the caller no longer waits")
    private static let answers = FieldSpec(
        "field", "array of strings", "NAME=VALUE: answers to what the server may want to know for it")

    /// The methods of the protocol that are no commands.
    package static var otherMethods: [PlainMethod] {
        [
            PlainMethod(
                name: passwordMethod,
                summary:
                    "Gives the secrets for later requests of this connection for the same session: a password, an access "
                    + "token, or both",
                parameters: [
                    session, FieldSpec("password", "string", "the password"),
                    FieldSpec("token", "string", "an access token (OAUTHBEARER)"), patience,
                ], required: [], result: []),
            PlainMethod(
                name: changePasswordMethod, summary: "Gives the account another password at its server (XEP-0077)",
                parameters: [
                    FieldSpec("password", "string", "the password from now on"), answers, session, patience,
                ], required: ["password"], result: [api, account]),
            PlainMethod(
                name: unregisterMethod, summary: "Has the server remove the account (XEP-0077)",
                parameters: [answers, session, patience], required: [], result: [api, account]),
        ]
    }
}
