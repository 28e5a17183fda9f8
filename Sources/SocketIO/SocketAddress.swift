// SPDX-License-Identifier: Apache-2.0

package import Glibc

/// An address that a socket is bound or connected to: IPv4, IPv6 or a Unix socket's path.
package struct SocketAddress: Sendable, Hashable, CustomStringConvertible {
    /// The bytes of the platform's `sockaddr_…` structure.
    private let bytes: [UInt8]

    /// Copies an address the system wrote. `nil` when it is too short to name its family.
    package init?(_ address: UnsafePointer<sockaddr>, length: socklen_t) {
        guard Int(length) >= MemoryLayout<sa_family_t>.size, Int(length) <= MemoryLayout<sockaddr_storage>.size else {
            return nil
        }
        bytes = Array(UnsafeRawBufferPointer(start: address, count: Int(length)))
    }

    private init<Address>(copying address: Address, length: Int = MemoryLayout<Address>.size) {
        bytes = withUnsafeBytes(of: address) { Array($0.prefix(length)) }
    }

    /// Reads an address literal; brackets around an IPv6 address are allowed, names are not looked up.
    ///
    /// - Returns: `nil` when `literal` is not an IPv4 or IPv6 address.
    package init?(literal: String, port: UInt16) {
        var text = literal[...]
        if text.first == "[", text.last == "]" { text = text.dropFirst().dropLast() }
        var ipv4 = sockaddr_in()
        var ipv6 = sockaddr_in6()
        if inet_pton(AF_INET, String(text), &ipv4.sin_addr) == 1 {
            ipv4.sin_family = sa_family_t(AF_INET)
            ipv4.sin_port = port.bigEndian
            self.init(copying: ipv4)
        } else if inet_pton(AF_INET6, String(text), &ipv6.sin6_addr) == 1 {
            ipv6.sin6_family = sa_family_t(AF_INET6)
            ipv6.sin6_port = port.bigEndian
            self.init(copying: ipv6)
        } else {
            return nil
        }
    }

    /// The address of a Unix socket. `nil` when the path is empty, holds a NUL or is longer than the system's 107
    /// bytes.
    package init?(unixPath path: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let utf8 = Array(path.utf8)
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        guard !utf8.isEmpty, utf8.count < capacity, !utf8.contains(0) else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: utf8) }
        let start = MemoryLayout<sockaddr_un>.size - capacity
        self.init(copying: address, length: start + utf8.count + 1)
    }

    /// IPv4 loopback, 127.0.0.1. Port 0 lets the system choose one.
    package static func loopback(port: UInt16) -> SocketAddress {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return SocketAddress(copying: address)
    }

    /// The address family: `AF_INET`, `AF_INET6` or `AF_UNIX`.
    package var family: Int32 {
        withSockaddr { address, _ in Int32(address.pointee.sa_family) }
    }

    /// Whether this is an IPv6 address.
    package var isIPv6: Bool { family == AF_INET6 }

    /// Whether this is the path of a Unix socket.
    package var isUnix: Bool { family == AF_UNIX }

    /// The port, host byte order; `nil` for a Unix socket.
    package var port: UInt16? {
        switch family {
        case AF_INET: load(sockaddr_in.self).map { UInt16(bigEndian: $0.sin_port) }
        case AF_INET6: load(sockaddr_in6.self).map { UInt16(bigEndian: $0.sin6_port) }
        default: nil
        }
    }

    /// The address without port and brackets, or the Unix socket's path.
    package var host: String {
        switch family {
        case AF_INET, AF_INET6:
            return withSockaddr { address, length in
                withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(NI_MAXHOST)) { buffer in
                    guard let base = buffer.baseAddress,
                        getnameinfo(address, length, base, socklen_t(buffer.count), nil, 0, NI_NUMERICHOST) == 0
                    else { return "?" }
                    return String(cString: base)
                }
            }
        case AF_UNIX:
            let start = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: sockaddr_un().sun_path)
            return String(decoding: bytes.dropFirst(start).prefix { $0 != 0 }, as: UTF8.self)
        default:
            return "?"
        }
    }

    /// Whether the address reaches this machine only: 127/8, ::1, an IPv4-mapped 127/8, or a Unix socket.
    package var isLoopback: Bool {
        switch family {
        case AF_INET:
            return load(sockaddr_in.self).map { UInt32(bigEndian: $0.sin_addr.s_addr) >> 24 == 127 } ?? false
        case AF_INET6:
            guard let address = load(sockaddr_in6.self) else { return false }
            let octets = withUnsafeBytes(of: address.sin6_addr) { Array($0) }
            let isOne = octets.dropLast().allSatisfy { $0 == 0 } && octets.last == 1
            let isMapped = octets.prefix(10).allSatisfy { $0 == 0 } && octets[10] == 0xFF && octets[11] == 0xFF
            return isOne || (isMapped && octets[12] == 127)
        case AF_UNIX:
            return true
        default:
            return false
        }
    }

    /// Whether the address means something else in each network, or nothing on the internet: loopback, private (RFC
    /// 1918, RFC 4193), shared (RFC 6598) and link-local ones (RFC 3927, RFC 4291 §2.5.6).
    package var isPrivate: Bool {
        let bytes = hostBytes
        let isMapped = bytes.count == 16 && bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xFF
        let octets = isMapped ? Array(bytes.dropFirst(12)) : bytes
        if octets.count == 4 {
            switch (octets[0], octets[1]) {
            case (10, _), (127, _), (192, 168), (169, 254), (100, 64...127), (172, 16...31): return true
            default: return false
            }
        }
        guard octets.count == 16 else { return isLoopback }
        return isLoopback || octets[0] & 0xFE == 0xFC || (octets[0] == 0xFE && octets[1] & 0xC0 == 0x80)
    }

    /// `192.0.2.1:5222`, `[2001:db8::1]:5222`, or the path.
    package var description: String {
        guard let port else { return host.isEmpty ? "unnamed socket" : host }
        return HostPort(host: host, port: port).description
    }

    /// Lends the address to a function of the system.
    package func withSockaddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(bytes.count)) }
        }
    }

    private func load<Address>(_ type: Address.Type) -> Address? {
        guard bytes.count >= MemoryLayout<Address>.size else { return nil }
        return bytes.withUnsafeBytes { $0.loadUnaligned(as: type) }
    }

    /// Asks the system for an address of a socket with `getsockname` or `getpeername`.
    static func ask(
        _ descriptor: Descriptor,
        _ function: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> SocketAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard function(descriptor.number, address, &length) == 0 else { return nil }
                return SocketAddress(address, length: length)
            }
        }
    }
}

extension SocketAddress {
    /// The bytes of an IP address in network order: 4, 16, or none for a Unix socket.
    package var hostBytes: [UInt8] {
        switch family {
        case AF_INET: load(sockaddr_in.self).map { withUnsafeBytes(of: $0.sin_addr) { Array($0) } } ?? []
        case AF_INET6: load(sockaddr_in6.self).map { withUnsafeBytes(of: $0.sin6_addr) { Array($0) } } ?? []
        default: []
        }
    }

    /// Makes an IP address from 4 or 16 bytes in network order; `nil` for any other number.
    package init?(hostBytes: [UInt8], port: UInt16 = 0) {
        switch hostBytes.count {
        case 4:
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: hostBytes) }
            self.init(copying: address)
        case 16:
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: hostBytes) }
            self.init(copying: address)
        default:
            return nil
        }
    }
}
