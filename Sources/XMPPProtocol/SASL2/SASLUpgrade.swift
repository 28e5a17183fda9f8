// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPCrypto
internal import XMPPXML

/// Steps after an exchange that give the server what it needs for stronger ones (XEP-0480).
struct SASLUpgrade: Sendable {
    private enum Phase: Sendable, Equatable {
        /// The exchange itself goes on.
        case none
        /// A step has begun; the server says next what it needs.
        case awaitingSalt(Digest)
        /// What it needs is being worked out.
        case deriving(SCRAMKeyDerivation)
        /// No step is under way, and the exchange is over.
        case done
    }

    /// What can be done: none of it reveals the password.
    static let tasks: [(name: String, digest: Digest)] = [
        ("UPGR-SCRAM-SHA-512", .sha512), ("UPGR-SCRAM-SHA-256", .sha256),
    ]

    /// The tasks that were offered to the server and not done yet.
    private var offered: [String] = []
    private var phase = Phase.none

    /// Whether the exchange has ended before a step.
    var isExchangeOver: Bool { phase != .none }
    /// Whether a step is under way.
    var isUnderWay: Bool { phase != .none && phase != .done }

    /// Notes what is offered to the server together with an exchange that begins.
    mutating func offer(_ tasks: [String]) {
        offered = tasks
        phase = .none
    }

    /// The server asks for a step.
    ///
    /// - Returns: Its name; `nil` for anything but one that was offered.
    mutating func begin(_ asked: [String]) -> String? {
        // XEP-0480 §2.2: one at a time.
        guard asked.count == 1, let task = asked.first, offered.contains(task),
            let digest = Self.tasks.first(where: { $0.name == task })?.digest
        else { return nil }
        offered.removeAll { $0 == task }
        phase = .awaitingSalt(digest)
        return task
    }

    /// For which hash function a salt is awaited.
    var awaited: Digest? { if case .awaitingSalt(let digest) = phase { digest } else { nil } }

    /// The salted password is being worked out.
    mutating func derive(_ work: SCRAMKeyDerivation) { phase = .deriving(work) }

    /// It has been.
    ///
    /// - Returns: Whether this was what was being worked out.
    mutating func derived(_ work: SCRAMKeyDerivation) -> Bool {
        guard phase == .deriving(work) else { return false }
        phase = .done
        return true
    }
}

extension SASLNegotiation {
    /// Offers the server what it lacks for stronger mechanisms: the salted password alone, and only in an exchange that
    /// is bound to the channel, so that nobody in between gets it (XEP-0480 §5).
    mutating func upgradeRequest(_ selection: SASLSelection) -> [Element] {
        upgrade.offer([])
        guard profile != .classic, case .bound = selection.binding,
            case .account(let account) = authentication.credentials, account.password != nil
        else { return [] }
        let wanted = features.upgradeTasks
        let tasks = SASLUpgrade.tasks.map(\.name).filter(wanted.contains)
        upgrade.offer(tasks)
        return tasks.map { Element("upgrade", namespace: Namespace.saslUpgrade, text: $0) }
    }

    /// Begins a step that the server asks for; `nil` when it was not offered. First the server has to have proven
    /// itself: nobody else gets anything.
    mutating func begin(upgrades tasks: [String], _ element: Element) -> Outcome? {
        var next = upgrade
        guard let task = next.begin(tasks) else { return nil }
        do throws(SASLError) {
            try finish(with: try profile.additionalData(of: element))
        } catch {
            return broken("\(error)")
        }
        upgrade = next
        return .send(Element("next", namespace: Namespace.sasl2, attributes: ["task": task]))
    }

    /// Takes salt and iterations, within the limits of SCRAM itself: a salted password that is easy to reverse is as
    /// good as the password.
    mutating func received(taskData element: Element) -> Outcome {
        do throws(SASLError) {
            guard let digest = upgrade.awaited else { throw .unexpectedMessage }
            let work = try derivation(of: element, digest)
            upgrade.derive(work)
            return .derive(work)
        } catch {
            return broken("\(error)")
        }
    }

    /// What was worked out for a step; `nil` when that was for something else.
    mutating func upgraded(
        _ outcome: Result<SCRAMKeyMaterial, CryptoError>, for work: SCRAMKeyDerivation
    ) -> Outcome? {
        guard upgrade.derived(work) else { return nil }
        guard let salted = try? outcome.get().saltedPassword else { return broken("the keys cannot be worked out") }
        let text = salted.withUnsafeBytes { Base64.encode(Array($0)) }
        return .send(
            Element(
                "task-data", namespace: Namespace.sasl2,
                children: [Element("hash", namespace: Namespace.scramUpgrade, text: text)]))
    }

    private func derivation(of element: Element, _ digest: Digest) throws(SASLError) -> SCRAMKeyDerivation {
        let limits = SCRAMLimits()
        guard let data = element.firstChild("salt", namespace: Namespace.scramUpgrade),
            let salt = Base64.decode(data.text.trimmedOfXMLWhitespace),
            let iterations = data["iterations"].flatMap({ Int($0) })
        else { throw .malformedMessage }
        guard salt.count >= limits.minimumSaltByteCount else {
            throw .saltTooShort(minimum: limits.minimumSaltByteCount)
        }
        guard iterations >= limits.minimumIterations else {
            throw .iterationCountTooLow(minimum: limits.minimumIterations)
        }
        guard iterations <= limits.maximumIterations else {
            throw .iterationCountTooHigh(maximum: limits.maximumIterations)
        }
        guard case .account(let account) = authentication.credentials, let password = account.password else {
            throw .missingPassword
        }
        return SCRAMKeyDerivation(
            digest: digest, salt: salt, iterations: iterations, password: try SASLPassword.prepare(password),
            keepsSaltedPassword: true)
    }
}
