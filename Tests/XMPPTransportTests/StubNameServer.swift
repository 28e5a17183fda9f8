// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import SocketIO
import Testing

/// A tiny name server on 127.0.0.1 (UDP and TCP on one port) that answers SRV questions as a test asks.
///
/// Unchecked: everything that changes is confined to `queue`.
final class StubNameServer: @unchecked Sendable {
    /// What to answer.
    enum Answer: Sendable {
        /// Data of SRV records.
        case records([[UInt8]])
        /// A response code without data: 0, 2 (SERVFAIL), 3 (NXDOMAIN), 5 (REFUSED).
        case code(UInt8)
        /// Nothing at all.
        case silence
        /// An alias that leads to itself.
        case aliasLoop
        /// Bytes that are no answer.
        case garbage
    }

    let address: SocketAddress
    private let queue = DispatchQueue(label: "swift-xmpp.tests.dns")
    private let sources: [any DispatchSourceRead]

    init(_ answer: @escaping @Sendable (String) -> Answer) throws {
        let any = SocketAddress.loopback(port: 0)
        var bound: (udp: Int32, tcp: Int32, port: UInt16)?
        for _ in 0..<20 where bound == nil {
            let udp = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
            guard any.withSockaddr({ bind(udp, $0, $1) }) == 0 else { continue }
            var name = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            _ = withUnsafeMutablePointer(to: &name) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(udp, $0, &length) }
            }
            let port = UInt16(bigEndian: name.sin_port)
            let tcp = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            if SocketAddress.loopback(port: port).withSockaddr({ bind(tcp, $0, $1) }) == 0, listen(tcp, 8) == 0 {
                bound = (udp, tcp, port)
            } else {
                close(udp)
                close(tcp)
            }
        }
        let (udp, tcp, port) = try #require(bound)
        address = .loopback(port: port)
        let datagrams = DispatchSource.makeReadSource(fileDescriptor: udp, queue: queue)
        datagrams.setEventHandler { Self.answerDatagram(udp, answer) }
        let connections = DispatchSource.makeReadSource(fileDescriptor: tcp, queue: queue)
        connections.setEventHandler { Self.answerConnection(tcp, answer) }
        // Only when Dispatch has let go of them: else the next server's sockets, with the same numbers, would be
        // forgotten.
        datagrams.setCancelHandler { close(udp) }
        connections.setCancelHandler { close(tcp) }
        sources = [datagrams, connections]
        for source in sources { source.activate() }
    }

    deinit {
        for source in sources { source.cancel() }
    }

    private static func answerDatagram(_ socket: Int32, _ answer: (String) -> Answer) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        var peer = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        withUnsafeMutablePointer(to: &peer) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                let count = recvfrom(socket, &buffer, buffer.count, 0, address, &length)
                guard count > 12, let reply = reply(Array(buffer.prefix(count)), answer, limit: 1232) else { return }
                sendto(socket, reply, reply.count, 0, address, length)
            }
        }
    }

    private static func answerConnection(_ listener: Int32, _ answer: (String) -> Answer) {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        defer { close(connection) }
        var head: [UInt8] = [0, 0]
        guard recv(connection, &head, 2, Int32(MSG_WAITALL)) == 2 else { return }
        var query = [UInt8](repeating: 0, count: Int(head[0]) << 8 | Int(head[1]))
        guard recv(connection, &query, query.count, Int32(MSG_WAITALL)) == query.count,
            let reply = reply(query, answer, limit: 65_535)
        else { return }
        let framed = [UInt8(reply.count >> 8), UInt8(reply.count & 0xFF)] + reply
        send(connection, framed, framed.count, Int32(MSG_NOSIGNAL))
    }

    /// Builds the answer to a question; `nil` for silence.
    private static func reply(_ query: [UInt8], _ answer: (String) -> Answer, limit: Int) -> [UInt8]? {
        var labels: [String] = []
        var index = 12
        while index < query.count, query[index] != 0 {
            let length = Int(query[index])
            guard index + length < query.count else { return nil }
            labels.append(String(decoding: query[index + 1...index + length], as: UTF8.self))
            index += length + 1
        }
        guard index + 5 <= query.count else { return nil }
        let question = Array(query[12..<index + 5])
        let isSRV = query[index + 1] == 0 && query[index + 2] == 33
        func packet(code: UInt8, isTruncated: Bool = false, count: Int, _ body: [UInt8]) -> [UInt8] {
            let flags = 0x81 | (query[2] & 0x01) | (isTruncated ? 0x02 : 0)
            return [query[0], query[1], flags, 0x80 | code, 0, 1, UInt8(count >> 8), UInt8(count & 0xFF), 0, 0, 0, 0]
                + question + body
        }
        switch isSRV ? answer(labels.joined(separator: ".").lowercased()) : .code(0) {
        case .silence: return nil
        case .code(let code): return packet(code: code, count: 0, [])
        case .garbage: return [query[0], query[1], 0x81, 0x80, 0xFF, 0xFF, 0xFF, 0xFF]
        case .aliasLoop:
            return packet(code: 0, count: 1, [0xC0, 12, 0, 5, 0, 1, 0, 0, 0, 60, 0, 2, 0xC0, 12])
        case .records(let records):
            let body: [UInt8] = records.flatMap { data -> [UInt8] in
                [0xC0, 12, 0, 33, 0, 1, 0, 0, 0, 60, UInt8(data.count >> 8), UInt8(data.count & 0xFF)] + data
            }
            let whole = packet(code: 0, count: records.count, body)
            return whole.count <= limit ? whole : packet(code: 0, isTruncated: true, count: 0, [])
        }
    }
}
