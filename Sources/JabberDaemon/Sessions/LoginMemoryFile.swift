// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import SocketIO
internal import XMPP

/// What the logins of one configured account leave for the next, in a file that only the user can read.
///
/// The daemon that stays and the private ones each look like a program of their own to the server: with one name for
/// both, a command would end the daemon's session. Of the private ones, the first takes the file; another one that runs
/// at the same time begins without a memory, and leaves none.
actor LoginMemoryFile: LoginMemoryStore {
    /// Whose memory it is.
    typealias Owner = AccountFiles.LoginOwner

    private let path: String
    private let owner: Owner
    private var lock: Descriptor?
    private var hasAskedForLock = false

    /// Makes a store; nothing is read yet.
    ///
    /// - Parameters:
    ///   - files: The account's files.
    ///   - owner: Who logs in.
    init(_ files: AccountFiles, owner: Owner) {
        path = files.logins(of: owner)
        self.owner = owner
    }

    func memory(of account: JID) async -> LoginMemory? {
        guard isOurs else { return nil }
        return Self.read(path, account)
    }

    func save(_ memory: LoginMemory, of account: JID) async {
        guard isOurs else { return }
        // What cannot be kept is learnt anew.
        try? Self.write(memory, of: account, to: path)
    }

    /// Whether nobody else uses the file now.
    private var isOurs: Bool {
        guard owner == .command else { return true }
        if !hasAskedForLock {
            hasAskedForLock = true
            lock = StateLock.take(path + ".lock")
        }
        return lock != nil
    }

    // MARK: Forgetting

    /// What is kept of an account's logins as each kind of program.
    ///
    /// - Parameters:
    ///   - files: The account's files.
    ///   - jid: Its bare address.
    static func all(_ files: AccountFiles, _ jid: JID) -> [LoginMemory] {
        Owner.allCases.compactMap { read(files.logins(of: $0), jid) }
    }

    /// Forgets the tokens of an account.
    ///
    /// - Parameters:
    ///   - files: The account's files.
    ///   - jid: Its bare address.
    ///   - includingProofs: Whether to forget too how strong the logins have been, which keys the server had, and what
    ///     it offered.
    /// - Returns: How many tokens there were.
    /// - Throws: `ControlError` with ``ControlErrorCode/inputOutput``.
    @discardableResult
    static func forget(_ files: AccountFiles, _ jid: JID, includingProofs: Bool) throws(ControlError) -> Int {
        var count = 0
        for owner in Owner.allCases {
            let path = files.logins(of: owner)
            guard var memory = read(path, jid) else { continue }
            if memory.token != nil { count += 1 }
            memory.token = nil
            if includingProofs {
                memory.hasUsedSCRAM = false
                memory.hasUsedChannelBinding = false
                memory.serverKeys = []
                memory.offered = nil
            }
            try write(memory, of: jid, to: path)
        }
        return count
    }

    // MARK: The file

    /// What a file holds about an account; `nil` when there is none, when others could have read or written it, or when
    /// it is about another account that had the name before.
    private static func read(_ path: String, _ account: JID) -> LoginMemory? {
        guard let contents = try? PrivateFile.read(path),
            (try? PrivateFile.requireSecret(contents, at: path)) != nil,
            let object = try? JSONReader.read(contents.bytes).objectValue,
            object.string("jid") == account.description, let name = object.string("userAgent")
        else { return nil }
        var memory = LoginMemory(userAgentID: name)
        memory.hasUsedSCRAM = object.bool("hasUsedSCRAM") ?? false
        memory.hasUsedChannelBinding = object.bool("hasUsedChannelBinding") ?? false
        memory.token = object["token"]?.objectValue.flatMap(token)
        memory.serverKeys = (object["serverKeys"]?.arrayValue ?? []).prefix(ServerKey.maximumRemembered)
            .compactMap { $0.objectValue.flatMap(serverKey) }
        memory.offered = object["offered"]?.objectValue.map(offered)
        memory.lastOversized = object.string("lastOversized").flatMap(DateTime.init)
        return memory
    }

    private static func token(_ object: JSONObject) -> LoginToken? {
        guard let mechanism = object.string("mechanism"), let secret = object.string("secret"),
            let expiry = object.string("expiry").flatMap(DateTime.init),
            let count = object.int("count").flatMap({ UInt32(exactly: $0) })
        else { return nil }
        return LoginToken(
            mechanism: SASLMechanismName(rawValue: mechanism), bytes: Array(secret.utf8), expiry: expiry, count: count)
    }

    private static func serverKey(_ object: JSONObject) -> ServerKey? {
        guard let identity = object.string("identity"),
            let fingerprint = object.string("fingerprint").flatMap({ KeyFingerprint($0) })
        else { return nil }
        return ServerKey(
            identity: identity, fingerprint: fingerprint, issuer: object.string("issuer") ?? "",
            notAfter: object.string("notAfter") ?? "")
    }

    private static func offered(_ object: JSONObject) -> OfferedFeatures {
        func features(_ key: String) -> StreamFeatures? {
            object.string(key).flatMap { try? Element.parse($0) }.map(StreamFeatures.init)
        }
        var offered = OfferedFeatures()
        offered.beforeTLS = features("beforeTLS")
        offered.beforeLogin = features("beforeLogin")
        offered.session = features("session")
        return offered
    }

    /// Bytes of features that are kept until the next login; 65,536, twenty times what usual servers have. Larger ones
    /// are learnt anew.
    private static let maximumFeatureBytes = 65_536

    private static func written(_ features: StreamFeatures?) -> JSONValue? {
        features.flatMap { try? XMLSerializer.string($0.element, maximumBytes: maximumFeatureBytes) }.map(
            JSONValue.string)
    }

    private static func write(_ memory: LoginMemory, of account: JID, to path: String) throws(ControlError) {
        var object: JSONObject = [
            "jid": .string(account.description), "userAgent": .string(memory.userAgentID),
            "hasUsedSCRAM": .bool(memory.hasUsedSCRAM), "hasUsedChannelBinding": .bool(memory.hasUsedChannelBinding),
        ]
        if let token = memory.token {
            object["token"] = .object([
                "mechanism": .string(token.mechanism.rawValue),
                "secret": .string(String(decoding: token.bytes, as: UTF8.self)),
                "expiry": .string(token.expiry.description), "count": .integer(Int64(token.count)),
            ])
        }
        if !memory.serverKeys.isEmpty {
            object["serverKeys"] = .array(
                memory.serverKeys.map { key in
                    [
                        "identity": .string(key.identity), "fingerprint": .string(key.fingerprint.description),
                        "issuer": .string(key.issuer), "notAfter": .string(key.notAfter),
                    ]
                })
        }
        if let last = memory.lastOversized { object["lastOversized"] = .string(last.description) }
        if let offered = memory.offered {
            object["offered"] = .object(
                JSONObject(present: [
                    "beforeTLS": written(offered.beforeTLS), "beforeLogin": written(offered.beforeLogin),
                    "session": written(offered.session),
                ]))
        }
        try PrivateFile.write(JSONValue.object(object).encodedPretty(), to: path)
    }
}
