// SPDX-License-Identifier: Apache-2.0

internal import XMPPCrypto

/// The client's side of HTTP's CONNECT (RFC 9110 §9.3.6), with Basic authentication (RFC 7617) where a name is given.
struct ConnectDialogue: ProxyDialogue {
    /// Interim answers (RFC 9110 §15.2) passed over at most.
    static let maximumInterimAnswers = 4

    private let proxy: Proxy
    private let target: ConnectionTarget
    private var input: [UInt8] = []
    private var interimAnswers = 0
    private var isDone = false

    init(_ proxy: Proxy, to target: ConnectionTarget) {
        self.proxy = proxy
        self.target = target
    }

    var phase: ProxyError.Phase { .request }

    mutating func connected() -> [ProxyAction] {
        do throws(ProxyError) {
            return [.send(try request())]
        } catch {
            isDone = true
            return [.failed(error)]
        }
    }

    mutating func received(_ bytes: [UInt8]) -> [ProxyAction] {
        guard !isDone else { return [] }
        input += bytes
        do throws(ProxyError) {
            guard try answer() else { return [] }
            isDone = true
            return [.connected]
        } catch {
            isDone = true
            return [.failed(error)]
        }
    }

    private func failure(_ reason: ProxyError.Reason) -> ProxyError { ProxyError(phase, reason) }

    private func request() throws(ProxyError) -> [UInt8] {
        let place = target.authority
        // What would end the line, or the word, would be a request of its own.
        guard place.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"/@?#".utf8.contains($0) }) else {
            throw failure(.unusable("the host has no name that fits into a request"))
        }
        var lines = ["CONNECT \(place) HTTP/1.1", "Host: \(place)"]
        if let username = proxy.username {
            // RFC 7617 §2.
            guard !username.utf8.contains(UInt8(ascii: ":")) else {
                throw failure(.unusable("a name with a colon has no place in Basic authentication"))
            }
            let password = proxy.password?.withUnsafeBytes { Array($0) } ?? []
            guard max(username.utf8.count, password.count) <= Proxy.maximumCredentialBytes else {
                throw failure(.unusable("name and password may have \(Proxy.maximumCredentialBytes) bytes each"))
            }
            let credentials = Array(username.utf8) + [UInt8(ascii: ":")] + password
            lines.append("Proxy-Authorization: Basic \(Base64.encode(credentials))")
        }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    /// Reads the answer.
    ///
    /// - Returns: Whether it is there, and an agreement.
    private mutating func answer() throws(ProxyError) -> Bool {
        while true {
            let beginning = Array("HTTP/1.".utf8)
            guard input.starts(with: beginning.prefix(input.count)) else {
                throw failure(.malformed("it does not answer in HTTP"))
            }
            let found: (head: HTTPHead, count: Int)?
            do throws(HTTPHead.Fault) {
                found = try HTTPHead.read(input[...])
            } catch {
                throw failure(.malformed(error == .tooLong ? "an answer without end" : "an answer that cannot be read"))
            }
            guard let (head, count) = found else { return false }
            input.removeFirst(count)
            guard let status = head.status else { throw failure(.malformed("an answer without a status")) }
            if (100...199).contains(status.code), status.code != 101, interimAnswers < Self.maximumInterimAnswers {
                interimAnswers += 1
                continue
            }
            try check(head, status)
            // RFC 9110 §9.3.6: a body is not looked for, whatever the head says; and the server waits for us.
            guard input.isEmpty else { throw failure(.malformed("it says more than it was asked")) }
            return true
        }
    }

    private func check(_ head: HTTPHead, _ status: (code: Int, reason: String)) throws(ProxyError) {
        switch status.code {
        case 200...299: return
        case 407:
            let kinds = head.values("proxy-authenticate").compactMap { field in
                field.unicodeScalars.split(separator: " ").first.map { String($0) }
            }
            guard kinds.isEmpty || kinds.contains(where: { $0.lowercased() == "basic" }) else {
                throw failure(.loginNeeded(kinds))
            }
            throw failure(proxy.username == nil ? .loginNeeded([]) : .loginRefused)
        // No server behind the proxy has answered yet: some, tinyproxy for one, refuse a login so.
        case 401 where proxy.username != nil: throw failure(.loginRefused)
        default:
            let text = status.reason.isEmpty ? "\(status.code)" : "\(status.code) \(status.reason)"
            throw failure(.refused(PrintableText.clean(text)))
        }
    }
}
