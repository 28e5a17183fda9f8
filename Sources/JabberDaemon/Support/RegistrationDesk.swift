// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import SocketIO
internal import XMPP

/// The registrations that somebody is in the midst of: the questions are there, and the answers to come.
actor RegistrationDesk {
    /// How many there may be; 8. Of more, the oldest is given up.
    static let maximumOpen = 8
    /// How long one may wait for the next answer before it is given up; an hour, for whoever has to look for a letter
    /// with a code in it.
    static let maximumWait: Duration = .seconds(3_600)

    private static let executor = StreamExecutor(label: "jabberctld.registrations")

    /// One of them.
    struct Open: Sendable {
        let registration: AccountRegistration
        /// What the server asks.
        var form: RegistrationForm
        /// The name of the account, where that is decided.
        let username: String?
        /// Where what came along with the questions was put.
        var files: [String] = []

        /// Ends it, and leaves nothing behind.
        func end() async {
            for file in files { _ = try? PrivateFile.remove(file) }
            await registration.end()
        }
    }

    /// One of them, and when it is given up.
    private struct Entry {
        let id: String
        var value: Open
        var expiry: any ScheduledTimer

        func end() async {
            expiry.cancel()
            await value.end()
        }
    }

    private var entries: [Entry] = []
    private let clock: any StreamClock

    /// Makes a desk with nothing on it.
    ///
    /// - Parameter clock: Where time comes from.
    init(clock: any StreamClock) {
        self.clock = clock
    }

    /// Takes one in.
    ///
    /// - Returns: The name that it goes by.
    func add(_ value: Open) async -> String {
        var generator = SystemRandomNumberGenerator()
        let id = String(generator.next() as UInt64, radix: 36)
        entries.append(Entry(id: id, value: value, expiry: expiry(of: id)))
        while entries.count > Self.maximumOpen { await entries.removeFirst().end() }
        return id
    }

    private func expiry(of id: String) -> any ScheduledTimer {
        clock.schedule(after: Self.maximumWait, on: Self.executor) { [weak self] in
            Task { await self?.end(id) }
        }
    }

    /// The one with this name, which is in use and gets its time anew; `nil` when it was given up.
    func find(_ id: String) -> Open? {
        guard let place = entries.firstIndex(where: { $0.id == id }) else { return nil }
        entries[place].expiry.cancel()
        entries[place].expiry = expiry(of: id)
        return entries[place].value
    }

    /// There are other questions.
    func ask(_ form: RegistrationForm, _ id: String) {
        guard let place = entries.firstIndex(where: { $0.id == id }) else { return }
        entries[place].value.form = form
    }

    /// Puts what came along with the questions into files that people can look at.
    ///
    /// - Returns: The files by the names of what is in them. What cannot be written is left out.
    func lay(out form: RegistrationForm, _ id: String, in folder: String) -> [String: String] {
        guard let place = entries.firstIndex(where: { $0.id == id }) else { return [:] }
        for file in entries[place].value.files { _ = try? PrivateFile.remove(file) }
        var files: [String: String] = [:]
        for (number, data) in form.enclosed.enumerated() {
            let file = "\(folder)/\(id)-\(number + 1)\(Self.ending(data.type))"
            guard (try? PrivateFile.write(data.bytes, to: file)) != nil else { continue }
            files[data.id] = file
        }
        entries[place].value.files = Array(files.values)
        return files
    }

    /// What the names of such files end with: the sender's word is no name.
    private static func ending(_ type: String) -> String {
        switch type {
        case "image/png": ".png"
        case "image/jpeg": ".jpg"
        case "image/gif": ".gif"
        case "audio/x-wav", "audio/wav": ".wav"
        case "audio/ogg", "audio/ogg-speex": ".ogg"
        default: ".data"
        }
    }

    /// It is over.
    func end(_ id: String) async {
        guard let place = entries.firstIndex(where: { $0.id == id }) else { return }
        await entries.remove(at: place).end()
    }

    /// All of them are over.
    func endAll() async {
        let all = entries
        entries = []
        for entry in all { await entry.end() }
    }
}
