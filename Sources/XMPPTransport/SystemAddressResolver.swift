// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
package import SocketIO
internal import Synchronization

/// Addresses from the system: /etc/hosts, name servers and what else nsswitch names, by `getaddrinfo`.
package struct SystemAddressResolver: AddressResolver {
    /// How long a look-up may take. Default 6 seconds: long enough for the system to ask twice.
    package static let defaultTimeout: Duration = .seconds(6)
    /// `getaddrinfo` blocks its thread: it never runs on a stream's queue.
    private static let workers = DispatchQueue(label: "swift-xmpp.getaddrinfo", attributes: .concurrent)
    /// Deadlines wait elsewhere: look-ups that hang may take every thread that the workers can have.
    private static let deadlines = DispatchQueue(label: "swift-xmpp.getaddrinfo.deadlines")

    private let timeout: Duration

    /// Makes a resolver.
    package init(timeout: Duration = SystemAddressResolver.defaultTimeout) {
        self.timeout = timeout
    }

    /// The addresses of a host. A look-up that is too slow or called off is left to end by itself.
    package func addresses(of host: String, port: UInt16) async throws(ConnectError) -> [SocketAddress] {
        let seconds = Int(timeout.components.seconds)
        let answer = SingleAnswer<Result<[SocketAddress], ConnectError>>()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                answer.await(continuation)
                Self.workers.async { answer.give(Self.lookUp(host, port)) }
                Self.deadlines.asyncAfter(deadline: .now() + timeout.inSeconds) {
                    answer.give(.failure(.timedOut(name: host, seconds: seconds)))
                }
            }
        } onCancel: {
            answer.give(.failure(.cancelled))
        }
        return try result.get()
    }

    private static func lookUp(_ host: String, _ port: UInt16) -> Result<[SocketAddress], ConnectError> {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &list)
        guard code == 0 else { return .failure(failure(code, errno, host)) }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var entry = list
        while let current = entry?.pointee {
            entry = current.ai_next
            guard let sockaddr = current.ai_addr,
                let address = SocketAddress(sockaddr, length: current.ai_addrlen), !addresses.contains(address)
            else { continue }
            addresses.append(address)
        }
        return addresses.isEmpty ? .failure(.hostNotFound(name: host, detail: "no address")) : .success(addresses)
    }

    /// What a result of `getaddrinfo` means: that there is no such name, or only that nobody could be asked, as on a machine
    /// whose network is not up yet.
    static func failure(_ code: Int32, _ systemCode: Int32, _ host: String) -> ConnectError {
        switch code {
        case EAI_NONAME, noData, noAddressOfFamily:
            .hostNotFound(name: host, detail: String(cString: gai_strerror(code)))
        case EAI_SYSTEM:
            .resolverFailed(name: host, detail: SystemError(systemCode, "getaddrinfo").reason)
        default:
            .resolverFailed(name: host, detail: String(cString: gai_strerror(code)))
        }
    }

    /// `EAI_NODATA` and `EAI_ADDRFAMILY` of the GNU C library, which its header shows to GNU programs only.
    private static let noData: Int32 = -5
    private static let noAddressOfFamily: Int32 = -9
}

/// Gives the first of several possible answers to one waiter.
final class SingleAnswer<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case waiting(CheckedContinuation<Value, Never>)
        case early(Value)
        case done
    }

    private let state = Mutex(State.empty)

    /// Gives the waiter; it is resumed at once when an answer is there already.
    func await(_ continuation: CheckedContinuation<Value, Never>) {
        let early: Value? = state.withLock { state in
            guard case .early(let value) = state else {
                state = .waiting(continuation)
                return nil
            }
            state = .done
            return value
        }
        if let early { continuation.resume(returning: early) }
    }

    /// Gives an answer; every one but the first is dropped.
    func give(_ value: Value) {
        let waiter: CheckedContinuation<Value, Never>? = state.withLock { state in
            switch state {
            case .empty:
                state = .early(value)
                return nil
            case .waiting(let continuation):
                state = .done
                return continuation
            case .early, .done:
                return nil
            }
        }
        waiter?.resume(returning: value)
    }
}
