// SPDX-License-Identifier: Apache-2.0

/// Who may import whom. This table is the house's drawing; `Package.swift` and every `import` are held against it.
enum Floors {
    struct Room {
        /// Targets of this package that it may import.
        let own: Set<String>
        /// Modules of the toolchain that it may import.
        let platform: Set<String>
        /// Words of code that it may not use, with the reason.
        var banned: [String: String] = [:]
    }

    /// Module maps and the one C target: they import nothing.
    static let cellar: Set<String> = [
        "CLibXML2", "COpenSSL", "CEpoll", "CUnbound", "CIDN2", "CUnistring", "CSQLite", "CWslay", "CLibEdit",
    ]

    private static let library: Set<String> = [
        "XMPPXML", "XMPPCrypto", "SocketIO", "JSONText", "XMPPCore", "XMPPProtocol", "XMPPTransport", "XMPPStorage",
    ]

    private static let values: Set<String> = ["Glibc", "Synchronization"]
    private static let events: Set<String> = ["Glibc", "Synchronization", "Dispatch"]
    private static let tools: Set<String> = ["Glibc", "Synchronization", "Dispatch", "FoundationEssentials"]

    static let rooms: [String: Room] = [
        "XMPPXML": Room(own: ["CLibXML2"], platform: values),
        "XMPPCrypto": Room(own: ["COpenSSL"], platform: values),
        "SocketIO": Room(own: ["CEpoll"], platform: events),
        "JSONText": Room(own: [], platform: values),
        "XMPPCore": Room(own: ["XMPPXML", "CIDN2", "CUnistring"], platform: values),
        "XMPPProtocol": Room(
            own: ["XMPPCore", "XMPPXML", "XMPPCrypto"],
            platform: ["Synchronization"],
            banned: [
                "ContinuousClock": "time is passed in", "SuspendingClock": "time is passed in",
                "SystemRandomNumberGenerator": "randomness is passed in",
                "SecureRandom": "randomness is passed in",
            ]
        ),
        "XMPPTransport": Room(own: ["SocketIO", "XMPPCrypto", "COpenSSL", "CUnbound", "CWslay"], platform: events),
        "XMPPStorage": Room(own: ["XMPPCore", "XMPPProtocol", "XMPPXML", "SocketIO", "CSQLite"], platform: events),
        "XMPP": Room(own: library, platform: events),
        "JabberControl": Room(own: ["SocketIO", "JSONText"], platform: tools),
        "JabberDaemon": Room(own: ["XMPP", "XMPPStorage", "JabberControl", "SocketIO"], platform: tools),
        "JabberCLI": Room(own: ["JabberControl", "SocketIO", "CLibEdit"], platform: tools),
        "jabberctl": Room(own: ["JabberCLI"], platform: values),
        "jabberctld": Room(own: ["JabberDaemon"], platform: values),
        "XMPPTestSupport": Room(own: library.union(["XMPP", "COpenSSL"]), platform: events),
        "xmpp-loopback": Room(own: library.union(["XMPP", "XMPPTestSupport"]), platform: events),
        "xmpp-sweep": Room(
            own: ["XMPP", "XMPPStorage", "XMPPTestSupport", "JabberControl", "SocketIO"], platform: events),
        "xmpp-outbox": Room(own: ["XMPPStorage", "XMPP", "XMPPTestSupport", "CSQLite"], platform: events),
        "xmpp-floods": Room(
            own: ["XMPP", "XMPPXML", "XMPPTestSupport", "JabberControl", "SocketIO"], platform: events),
    ]

    /// What a target may not import or depend on, as one sentence for each breach.
    static func breach(of target: String, importing module: String) -> String? {
        guard let room = rooms[target] else {
            return "the target \(target) has no floor: give it one in Floors.swift"
        }
        if room.own.contains(module) || room.platform.contains(module) { return nil }
        if module == "Foundation" { return "\(target) may not import Foundation: it triples the time to start" }
        return "\(target) may not import \(module)"
    }

    /// Every forbidden import and word of a source file.
    static func violations(in file: SourceTree.File) -> [Violation] {
        let text = file.swift
        var found: [Violation] = []
        for (index, line) in text.code.enumerated() {
            if let module = importedModule(line), module != file.target,
                let reason = breach(of: file.target, importing: module)
            {
                found.append(Violation(file: file.path, line: index + 1, reason: reason))
            }
            for (word, reason) in rooms[file.target]?.banned ?? [:] where line.contains(word) {
                found.append(Violation(file: file.path, line: index + 1, reason: "\(word): \(reason)"))
            }
        }
        return found
    }

    /// The module that a line imports: `import M`, `package import M`, `import struct M.T`.
    static func importedModule(_ line: Substring) -> String? {
        var words = line.split(whereSeparator: \.isWhitespace)[...]
        while let first = words.first, first != "import" {
            guard first.hasPrefix("@") || ["public", "package", "internal", "private", "fileprivate"].contains(first)
            else { return nil }
            words = words.dropFirst()
        }
        words = words.dropFirst()
        let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
        if let first = words.first, kinds.contains(first) { words = words.dropFirst() }
        return words.first?.split(separator: ".").first.map(String.init)
    }
}
