// SPDX-License-Identifier: Apache-2.0

import Foundation
import JabberControl

extension FuzzTarget {
    /// Bytes on the control socket: the same lines however they are cut, and each message that is read is written and
    /// read back the same.
    static let controlFrame = FuzzTarget(
        name: "control-frame",
        seeds: {
            [
                #"{"jsonrpc":"2.0","id":1,"method":"send","params":{"to":["a@b"],"text":"h\u00e9\ud83d\ude00","n":[1,-2.5e3,null]}}"#,
                #"{"jsonrpc":"2.0","id":"a","result":{"x":true}}"#,
                #"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m","data":{"code":"io","exit":74,"retry":true,"stanza":{"a":1},"account":"b"}}}"#,
                #"{"jsonrpc":"2.0","method":"hello","params":{"product":"p","version":"v","api":{"min":1,"max":1},"instance":"i"}}"#,
                #"{"jsonrpc":"2.0","method":"cancel","params":{"request":1}}"#, "\n\n{}\n[]\n",
            ].map { Array("\($0)\n".utf8) }
        }
    ) { bytes in
        var whole = ControlLineReader()
        let lines = whole.feed(bytes).lines
        for size in [1, 5] {
            var reader = ControlLineReader()
            let pieces = stride(from: 0, to: bytes.count, by: size).flatMap {
                reader.feed(Array(bytes[$0..<min($0 + size, bytes.count)])).lines
            }
            try require(pieces == lines, "pieces of \(size) bytes make other lines")
        }
        for line in lines + [bytes] {
            if let value = try? JSONReader.read(line) { try checkValue(value, written: line) }
            do {
                try checkMessage(try ControlFrame.decode(line))
            } catch let error as ControlFrameError {
                try require(!error.controlError.message.hasControls, "an error that is not fit for a line")
            }
        }
    }

    private static func checkMessage(_ message: ControlMessage) throws {
        let line = try mustNotThrow("cannot be written: \(message)") { try ControlFrame.encode(message) }
        try require(line.last == 0x0A && line.dropLast().allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "not one line")
        let again = try mustNotThrow("cannot be read back: \(message)") { try ControlFrame.decode(line) }
        try require(again == message, "\(message) is read back as \(again)")
        try require(try ControlFrame.encode(again) == line, "\(message) is written otherwise the second time")
        if case .notification(let notification) = message, let greeting = ControlGreeting(notification) {
            try require(ControlGreeting(greeting.notification) == greeting, "the greeting \(notification)")
        }
    }

    /// What is read as JSON is JSON to others too, and is written as what it was read as.
    private static func checkValue(_ value: JSONValue, written bytes: [UInt8]) throws {
        let other = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
        try require(other != nil, "no JSON to others, but \(value) to us")
        try checkValue(value)
        // JSON5 is more than JSON, and nothing of JSON means something else in it.
        let relaxed = try mustNotThrow("no JSON5: \(value)") { try JSONReader.read(bytes, as: .json5) }
        try require(relaxed == value, "JSON5 reads \(relaxed) for \(value)")
    }

    fileprivate static func checkValue(_ value: JSONValue) throws {
        for written in [value.encoded(), value.encodedPretty()] {
            let again = try mustNotThrow("cannot be read back: \(value)") { try JSONReader.read(written) }
            try require(again == value && again.encoded() == value.encoded(), "\(value) is read back as \(again)")
            let text = String(validating: written, as: UTF8.self)
            try require(text != nil, "not UTF-8: \(value)")
            let isPlain = text?.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control }
            try require(isPlain == true, "a control character in what was written for \(value)")
        }
    }

    /// A configuration file, whole: read from the disk as the programs do.
    static let configuration = FuzzTarget(
        name: "configuration",
        seeds: {
            [
                #"{accounts: {home: {jid: 'a@b.c', host: "h", port: 5222, tls: "direct", password: "p",},}, defaultAccount: 'home'}"#,
                #"{"accounts":{"w":{"jid":"a@b","ca":"/c","resource":"r","priority":-5,"allowPlain":true,"passwordCommand":"a 'b c' \"d\\\"\""}}}"#,
                "// note\n{ /* x */ accounts: { a: { jid: 'x', passwordCommand: ['p', \"\\x41\\u0041\\\n\"], later: 0x1F, n: +.5e1 } } }",
                "\u{FEFF}{accounts:{},defaultAccount:'none'}", "{accounts: null}", "[1, 2, {a: [[]],},]",
            ].map { Array($0.utf8) }
        }
    ) { bytes in
        do {
            let value = try JSONReader.read(bytes, as: .json5)
            try checkValue(value)
            for entry in value["accounts"]?.objectValue?.entries ?? [] {
                guard let object = entry.value.objectValue else { continue }
                try checkAccount(name: entry.key, object)
            }
        } catch let error as JSONError {
            let lines = bytes.count { $0 == 0x0A } + 1
            try require((1...lines).contains(error.line), "line \(error.line) of \(lines)")
            try require((1...bytes.count + 1).contains(error.column), "column \(error.column)")
            try require(!error.description.hasControls, "an error that is not fit for a terminal")
        }
        try checkWords(String(decoding: bytes, as: UTF8.self))
        try ConfigurationOnDisk.check(bytes)
    }

    private static func checkAccount(name: String, _ object: JSONObject) throws {
        guard let account = try? AccountConfiguration(name: name, json: object, file: "f") else { return }
        let again = try mustNotThrow("the account \(name) cannot be read back") {
            try AccountConfiguration(name: name, json: account.json, file: "f")
        }
        try require(again == account, "the account \(account) is read back as \(again)")
        let shown = account.publicJSON
        try require(shown["password"] == nil && shown["passwordCommand"] == nil, "the password of \(name) is shown")
        for key in object.keys where !AccountConfiguration.knownKeys.contains(key) {
            try require(account.json[key] == object[key], "the key \(key) is lost")
        }
    }

    private static func checkWords(_ text: String) throws {
        guard let words = try? CommandWords.split(text) else { return }
        let quoted = words.map { word in
            // A mark that combines with the quote makes one character of both, and no shell cares.
            "'" + word.unicodeScalars.map { $0 == "'" ? #"'\''"# : String($0) }.joined() + "'"
        }
        let again = try mustNotThrow("\(words) cannot be split again") {
            try CommandWords.split(quoted.joined(separator: " "))
        }
        try require(again == words, "\(words) quoted are \(again)")
    }
}

/// A private folder with one configuration file.
private enum ConfigurationOnDisk {
    private static let file: String? = {
        var template = Array("/tmp/xmpp-fuzz-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { return nil }
        let file = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self) + "/config.json"
        let isMade = FileManager.default.createFile(atPath: file, contents: nil, attributes: [.posixPermissions: 0o600])
        return isMade ? file : nil
    }()

    static func check(_ bytes: [UInt8]) throws {
        guard let file, let handle = FileHandle(forWritingAtPath: file) else {
            throw BrokenRule(description: "no file can be made")
        }
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: bytes)
        try handle.close()
        let paths = RuntimePaths(environment: ["HOME": "/nonexistent"])
        guard let configuration = try? ConfigurationFile(paths: paths, path: file) else { return }
        let names = configuration.accounts.map(\.name)
        try require(names == Set(names).sorted(), "the accounts \(names)")
        let implicit = (try? configuration.implicitAccount()) ?? nil
        try require(implicit.map { names.contains($0.name) } ?? true, "an account that does not exist is meant")
        for account in configuration.accounts {
            try require(try configuration.account(account.name) == account, "the account \(account.name) is not found")
        }
    }
}
