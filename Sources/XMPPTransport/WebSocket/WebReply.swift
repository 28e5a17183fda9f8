// SPDX-License-Identifier: Apache-2.0

/// What a web server answers to whoever asks for a document.
package struct WebReply: Sendable, Hashable {
    /// Code and reason, as in `200 OK`.
    package var status: String
    /// The fields of the head, but for those that frame the body.
    package var fields: [String]
    /// The body.
    package var body: [UInt8]

    /// Makes an answer.
    package init(status: String = "200 OK", fields: [String] = [], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}
