// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
package import SocketIO

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
        let answer = Handover<Result<[SocketAddress], ConnectError>>()
        let result = await withTaskCancellationHandler {
            Self.workers.async { answer.give(Self.lookUp(host, port)) }
            Self.deadlines.asyncAfter(deadline: .now() + timeout.inSeconds) {
                answer.give(.failure(.timedOut(name: host, within: timeout)))
            }
            return await answer.value()
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

    /// What a result of `getaddrinfo` means: that there is no such name, or only that nobody could be asked, as on a
    /// machine whose network is not up yet.
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
