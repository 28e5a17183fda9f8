// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import JabberControl

@Suite("Which session a request is for")
struct SessionSelectionTests {
    @Test("whether the web is asked is one of two words, kept as it is, and overridden by a selection")
    func hostMeta() throws {
        for (value, expected) in [
            ("null", nil), ("\"ask\"", .ask), ("\"never\"", .never),
        ] as [(String, AccountConfiguration.HostMeta?)] {
            let object = try #require(try JSONReader.read("{\"jid\":\"a@b\",\"hostMeta\":\(value)}".utf8).objectValue)
            var account = try AccountConfiguration(name: "me", json: object, file: "me.json")
            #expect(account.hostMeta == expected && account.json["hostMeta"]?.stringValue == expected?.rawValue)
            #expect(account.publicJSON["hostMeta"] == account.json["hostMeta"])
            var selection = SessionSelection()
            selection.override(&account)
            #expect(account.hostMeta == expected && !selection.bringsSettings)
            selection.hostMeta = .never
            selection.override(&account)
            #expect(account.hostMeta == .never && selection.bringsSettings)
            #expect(try SessionSelection(params: ["session": .object(selection.json)]) == selection)
        }
        for value in ["true", "\"no\"", "\"\"", "1"] {
            let object = try #require(try JSONReader.read("{\"jid\":\"a@b\",\"hostMeta\":\(value)}".utf8).objectValue)
            let error = try #require(throws: ControlError.self) {
                try AccountConfiguration(name: "me", json: object, file: "me.json")
            }
            #expect(error.code == .configuration && error.message.contains("\"hostMeta\" must be"), "\(error)")
        }
        #expect(throws: ControlError.self) { try SessionSelection(params: ["session": ["hostMeta": "no"]]) }
    }
}
