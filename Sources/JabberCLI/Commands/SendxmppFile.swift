// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// The settings file of sendxmpp, `~/.sendxmpprc`: either one line `user@server[:port] password [domain]`, or lines
/// `key: value`. It holds a password, so it is guarded like our own files.
struct SendxmppFile: Hashable, Sendable {
    /// The account's address.
    var jid: String
    /// The server, when it is not the address's domain.
    var host: String?
    /// The port at the server.
    var port: Int?
    /// The password.
    var password: String?

    /// Reads a file.
    ///
    /// - Throws: `ControlError` with `fileMissing`, `permissions` or `badData`.
    init(path: String) throws(ControlError) {
        guard let contents = try PrivateFile.read(path) else {
            throw ControlError(.fileMissing, "there is no file \(path)")
        }
        try PrivateFile.requireSecret(contents, at: path)
        try self.init(text: String(decoding: contents.bytes, as: UTF8.self), path: path)
    }

    /// Reads the text of a file.
    init(text: String, path: String) throws(ControlError) {
        // By Unicode scalars: a password may begin with what would be one `Character` with the blank before it.
        let lines = text.unicodeScalars.split { Character($0).isNewline }.filter { line in
            let start = line.drop { $0 == " " || $0 == "\t" }
            return !start.isEmpty && start.first != "#"
        }
        var keys: [String: String] = [:]
        for line in lines {
            let words = line.split { $0 == " " || $0 == "\t" }.map { String($0) }
            guard words.count >= 2 else { throw Self.strange(path) }
            if words[0].hasSuffix(":") && !words[0].contains("@") {
                keys[String(words[0].dropLast())] = words[1]
            } else if keys.isEmpty {
                keys = try Self.classic(words, path)
            }
        }
        guard let user = keys["username"], let server = keys["jserver"] else { throw Self.strange(path) }
        let domain = keys["component"] ?? server
        jid = user.contains("@") ? user : "\(user)@\(domain)"
        let hasOtherHost = !jid.hasSuffix("@\(server)")
        host = hasOtherHost || keys["port"] != nil ? server : nil
        port = try keys["port"].map { text throws(ControlError) in
            guard let port = Int(text), (1...65535).contains(port) else { throw Self.strange(path) }
            return port
        }
        password = keys["password"]
    }

    private static func classic(_ words: [String], _ path: String) throws(ControlError) -> [String: String] {
        let address = words[0].unicodeScalars.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
            .map { String($0) }
        guard address.count == 2, !address[0].isEmpty, !address[1].isEmpty else { throw strange(path) }
        var keys = ["username": address[0], "password": words[1]]
        if words.count > 2 { keys["component"] = words[2] }
        // `domain;server:port`: the part after the semicolon is the host to connect to.
        var server = address[1]
        if let semicolon = server.unicodeScalars.firstIndex(of: ";") {
            keys["component"] = String(server[..<semicolon])
            server = String(server[server.unicodeScalars.index(after: semicolon)...])
        }
        if let colon = server.unicodeScalars.lastIndex(of: ":") {
            keys["port"] = String(server[server.unicodeScalars.index(after: colon)...])
            server = String(server[..<colon])
        }
        keys["jserver"] = server
        return keys
    }

    private static func strange(_ path: String) -> ControlError {
        ControlError(.badData, "\(path) is not a settings file of sendxmpp")
    }
}
