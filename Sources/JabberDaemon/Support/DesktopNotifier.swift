// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import JabberControl
internal import SocketIO
internal import XMPP

/// Shows messages that come on the user's desktop, where there is one and the settings ask for it. Whoever tells it of
/// a message never waits.
final class DesktopNotifier: Sendable {
    /// How many notifications may wait for the desktop; 20. More at a time would not be read.
    static let maximumWaiting = 20
    /// How much of a text is shown, in Unicode scalars; 300. A `Character` of them may have a million marks.
    static let maximumScalars = 300

    private struct State {
        var isWanted = false
        var waiting = 0
    }

    private let environment: [String: String]
    private let queue = DispatchQueue(label: "jabberctld.notifications")
    private let state = Locked(State())

    /// Makes one that shows nothing yet.
    ///
    /// - Parameter environment: The variables that say where the user's bus is.
    init(environment: [String: String]) { self.environment = environment }

    /// Whether notifications are asked for.
    var isWanted: Bool {
        get { state.withLock { $0.isWanted } }
        set { state.withLock { $0.isWanted = newValue } }
    }

    /// A message came: it is shown when it is one that somebody has just written to the user.
    func received(_ chat: ChatMessage) {
        guard isWanted, chat.message.kind == .chat || chat.message.kind == .normal, !chat.isOutgoing, chat.delay == nil,
            let text = chat.text, !text.isEmpty
        else { return }
        show(summary: chat.conversation.description, text: text)
    }

    /// Shows a text, unless too many wait already.
    func show(summary: String, text: String) {
        let isTaken = state.withLock { state in
            guard state.isWanted, state.waiting < Self.maximumWaiting else { return false }
            state.waiting += 1
            return true
        }
        guard isTaken else { return }
        queue.async { [self] in
            defer { state.withLock { $0.waiting -= 1 } }
            guard let address, let library = SessionBus.Library(), let bus = SessionBus(library, at: address) else {
                return
            }
            let shown = TerminalText.line(summary.shortened(toScalars: Self.maximumScalars))
            _ = bus.notify(summary: shown, body: Self.body(text))
        }
    }

    /// Waits until everything is shown that was told so far.
    func flush() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    /// Where the user's bus is: at what the variables name, or at systemd's usual place; `nil` when there is none.
    private var address: String? {
        if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty { return address }
        guard let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/"), access(folder + "/bus", F_OK) == 0
        else { return nil }
        // D-Bus Specification, "Server Addresses": these bytes need no escape.
        let path = (folder + "/bus").utf8.reduce(into: "") { result, byte in
            let scalar = Unicode.Scalar(byte)
            let isPlain = scalar.isASCII && (Character(scalar).isLetter || Character(scalar).isNumber)
            let digits = String(byte, radix: 16)
            result +=
                isPlain || "-_/.\\*".unicodeScalars.contains(scalar)
                ? String(scalar) : "%" + (digits.count == 1 ? "0" : "") + digits
        }
        return "unix:path=" + path
    }

    /// A text as the body of a notification: nothing in it is markup, moves or hides anything, and it is short.
    static func body(_ text: String) -> String {
        // Scalar by scalar: with an accent on it, `<` is another `Character`, and markup all the same.
        let shown = TerminalText.block(text.shortened(toScalars: maximumScalars))
        return shown.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}
