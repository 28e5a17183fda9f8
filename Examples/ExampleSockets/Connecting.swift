// SPDX-License-Identifier: Apache-2.0

package import Dispatch
internal import Glibc

/// An address of the system's resolver, in the form that `connect` and `bind` take.
struct SocketAddress: Sendable {
    let family: Int32
    let bytes: [UInt8]

    /// Hands the address to a system call.
    func with(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        bytes.withUnsafeBytes { buffer in
            guard let address = buffer.assumingMemoryBound(to: sockaddr.self).baseAddress else { return -1 }
            return body(address, socklen_t(buffer.count))
        }
    }
}

extension Descriptor {
    /// Resolves a name and connects to the first of its addresses that answers. All of it has one limit.
    ///
    /// - Throws: ``SocketError``: the name is not known, the last address that was tried refused, or the time is over.
    package static func connect(
        to host: String, port: UInt16, by deadline: DispatchTime
    ) async throws(SocketError) -> Descriptor {
        let addresses = try await resolve(host, port: port, by: deadline)
        var problem = SocketError("\(host.isEmpty ? "the name" : host) has no address")
        for (index, address) in addresses.enumerated() {
            // A silent address must not use up the time of those after it.
            let share = deadline.share(of: addresses.count - index)
            do throws(SocketError) {
                return try await connect(to: address, by: share)
            } catch {
                problem = error
            }
        }
        throw problem
    }

    private static func connect(
        to address: SocketAddress, by deadline: DispatchTime
    ) async throws(SocketError) -> Descriptor {
        let socket = try Descriptor(family: address.family)
        if address.with({ Glibc.connect(socket.number, $0, $1) }) == 0 { return socket }
        // The usual case of a socket that never blocks: it is under way, and writable when the outcome is known.
        guard errno == EINPROGRESS else { throw SocketError(errno, "connect") }
        guard await socket.waits(for: .writable, until: deadline) else { throw .timedOut }
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(socket.number, SOL_SOCKET, SO_ERROR, &code, &size)
        guard code == 0 else { throw SocketError(code, "connect") }
        return socket
    }

    /// The addresses of a name. `getaddrinfo` blocks as long as it likes: it has a thread of its own, and is left
    /// alone there when the time is over.
    private static func resolve(
        _ host: String, port: UInt16, by deadline: DispatchTime
    ) async throws(SocketError) -> [SocketAddress] {
        let answer: Result<[SocketAddress], SocketError>? = await first(by: deadline) { answer in
            DispatchQueue.global().async {
                var hints = addrinfo()
                hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
                var list: UnsafeMutablePointer<addrinfo>?
                let code = getaddrinfo(host, String(port), &hints, &list)
                defer { if code == 0 { freeaddrinfo(list) } }
                guard code == 0 else {
                    answer.yield(.failure(SocketError("resolve \(host): \(String(cString: gai_strerror(code)))")))
                    return
                }
                let entries = sequence(first: list) { $0?.pointee.ai_next }.compactMap { $0?.pointee }
                answer.yield(
                    .success(
                        entries.map { entry in
                            SocketAddress(
                                family: entry.ai_family,
                                bytes: Array(UnsafeRawBufferPointer(start: entry.ai_addr, count: Int(entry.ai_addrlen)))
                            )
                        }))
            }
        }
        guard let answer else { throw .timedOut }
        return try answer.get()
    }
}

extension DispatchTime {
    /// When the first of some equal parts of the time from now until this one is over.
    fileprivate func share(of parts: Int) -> DispatchTime {
        let now = DispatchTime.now().uptimeNanoseconds
        guard uptimeNanoseconds > now, parts > 1 else { return self }
        return DispatchTime(uptimeNanoseconds: now + (uptimeNanoseconds - now) / UInt64(parts))
    }
}
