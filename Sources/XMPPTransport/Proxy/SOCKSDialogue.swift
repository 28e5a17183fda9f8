// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPCrypto

/// The client's side of SOCKS 5 (RFC 1928), with a name and a password (RFC 1929) where the proxy wants them.
struct SOCKSDialogue: ProxyDialogue {
    private enum State: Equatable {
        case awaitingMethod
        case awaitingLogin
        case awaitingReply
        case done
    }

    /// The methods of RFC 1928 §3 that are spoken here.
    private static let noLogin: UInt8 = 0
    private static let nameAndPassword: UInt8 = 2

    private let proxy: Proxy
    private let target: ConnectionTarget
    private var state = State.awaitingMethod
    private var input: [UInt8] = []

    init(_ proxy: Proxy, to target: ConnectionTarget) {
        self.proxy = proxy
        self.target = target
    }

    var phase: ProxyError.Phase {
        switch state {
        case .awaitingMethod: .greeting
        case .awaitingLogin: .login
        case .awaitingReply, .done: .request
        }
    }

    mutating func connected() -> [ProxyAction] {
        // RFC 1928 §3. A name that is given is offered beside going without one: the proxy chooses.
        let methods = proxy.username == nil ? [Self.noLogin] : [Self.noLogin, Self.nameAndPassword]
        return [.send([5, UInt8(methods.count)] + methods)]
    }

    mutating func received(_ bytes: [UInt8]) -> [ProxyAction] {
        input += bytes
        do throws(ProxyError) {
            switch state {
            case .awaitingMethod: return try method()
            case .awaitingLogin: return try login()
            case .awaitingReply: return try reply()
            case .done: return []
            }
        } catch {
            state = .done
            return [.failed(error)]
        }
    }

    private func failure(_ reason: ProxyError.Reason) -> ProxyError { ProxyError(phase, reason) }

    /// The next bytes of an answer, which has to end there: nothing can follow that was not asked for.
    private mutating func answer(_ count: Int) throws(ProxyError) -> [UInt8]? {
        guard input.count >= count else { return nil }
        guard input.count == count else { throw failure(.malformed("it says more than it was asked")) }
        defer { input = [] }
        return input
    }

    private mutating func method() throws(ProxyError) -> [ProxyAction] {
        if let first = input.first, first != 5 { throw failure(.malformed("it does not answer as SOCKS 5")) }
        guard let answer = try answer(2) else { return [] }
        switch answer[1] {
        case Self.noLogin:
            let request = try request()
            state = .awaitingReply
            return [.send(request)]
        case Self.nameAndPassword where proxy.username != nil:
            let credentials = try credentials()
            state = .awaitingLogin
            return [.send(credentials)]
        case 0xFF:
            // RFC 1928 §3: none of the methods offered will do.
            throw failure(proxy.username == nil ? .loginNeeded([]) : .loginNeeded(["not by name and password"]))
        default:
            throw failure(.malformed("it chooses a login that was not offered"))
        }
    }

    /// RFC 1929 §2.
    private func credentials() throws(ProxyError) -> [UInt8] {
        let name = Array((proxy.username ?? "").utf8)
        let password = proxy.password?.withUnsafeBytes { Array($0) } ?? []
        guard let nameLength = UInt8(exactly: name.count), nameLength > 0,
            let passwordLength = UInt8(exactly: password.count)
        else {
            throw failure(
                .unusable(
                    "name and password may have \(Proxy.maximumCredentialBytes) bytes each, and the name one at least"))
        }
        return [1, nameLength] + name + [passwordLength] + password
    }

    private mutating func login() throws(ProxyError) -> [ProxyAction] {
        if let first = input.first, first != 1 { throw failure(.malformed("it does not answer the login")) }
        guard let answer = try answer(2) else { return [] }
        // RFC 1929 §2: anything but 0 is a refusal.
        guard answer[1] == 0 else { throw failure(.loginRefused) }
        let request = try request()
        state = .awaitingReply
        return [.send(request)]
    }

    /// RFC 1928 §4. A name goes as a name, so that it is looked up at the other end.
    private func request() throws(ProxyError) -> [UInt8] {
        let address: [UInt8]
        if let literal = SocketAddress(literal: target.host, port: target.port) {
            address = [literal.isIPv6 ? 4 : 1] + literal.hostBytes
        } else {
            let name = Array(target.host.utf8)
            guard let length = UInt8(exactly: name.count), length > 0 else {
                throw failure(.unusable("the name of the host may have 255 bytes, and one at least"))
            }
            address = [3, length] + name
        }
        return [5, 1, 0] + address + [UInt8(target.port >> 8), UInt8(target.port & 0xFF)]
    }

    /// RFC 1928 §6.
    private mutating func reply() throws(ProxyError) -> [ProxyAction] {
        guard let first = input.first else { return [] }
        guard first == 5 else { throw failure(.malformed("it does not answer as SOCKS 5")) }
        guard input.count >= 2 else { return [] }
        // A refusal is believed at once, whether or not an address follows.
        guard input[1] == 0 else { throw failure(.refused(Self.meaning(of: input[1]))) }
        guard input.count >= 5 else { return [] }
        let addressLength: Int
        switch input[3] {
        case 1: addressLength = 4
        case 3: addressLength = 1 + Int(input[4])
        case 4: addressLength = 16
        default: throw failure(.malformed("an address of an unknown kind"))
        }
        guard try answer(4 + addressLength + 2) != nil else { return [] }
        state = .done
        return [.connected]
    }

    private static func meaning(of code: UInt8) -> String {
        switch code {
        case 1: "general failure"
        case 2: "not allowed by its rules"
        case 3: "the network is unreachable"
        case 4: "the host is unreachable, or its name is not known"
        case 5: "the connection was refused"
        case 6: "the time to live is over"
        case 7: "it does not know the command"
        case 8: "it does not know this kind of address"
        default: "error \(code)"
        }
    }
}
