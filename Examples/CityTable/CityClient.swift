// SPDX-License-Identifier: Apache-2.0

import Dispatch
import ExampleSockets

/// Asks a line server for its cities: connect, say `HELLO`, read one line. Each step has its limit, and no thread
/// waits.
struct CityClient {
    /// For the name and the connection together.
    var connectLimit = DispatchTimeInterval.seconds(1)
    /// For the answer, from its question on.
    var answerLimit = DispatchTimeInterval.seconds(1)

    /// Asks a server.
    ///
    /// - Returns: The cities, in the server's order.
    func ask(_ host: String, port: UInt16) async throws(CityError) -> [String] {
        let socket = try await connect(to: host, port: port)
        let deadline = DispatchTime.now() + answerLimit
        do {
            try await say("HELLO\n", to: socket, by: deadline)
            let line = try await line(from: socket, by: deadline)
            return line.split(separator: ":").map(String.init)
        } catch let error as CityError {
            throw error
        } catch {
            throw .broken("\(error)")
        }
    }

    private func connect(to host: String, port: UInt16) async throws(CityError) -> Descriptor {
        do {
            return try await .connect(to: host, port: port, by: .now() + connectLimit)
        } catch  where error.isRefusal {
            throw .refused
        } catch  where error.isTimeout {
            throw .unreachable
        } catch {
            throw .broken(error.description)
        }
    }

    private func say(_ text: String, to socket: Descriptor, by deadline: DispatchTime) async throws {
        var rest = Array(text.utf8)[...]
        while true {
            rest = rest.dropFirst(try socket.write(rest))
            guard !rest.isEmpty else { return }
            guard await socket.waits(for: .writable, until: deadline) else { throw CityError.silent }
        }
    }

    private func line(from socket: Descriptor, by deadline: DispatchTime) async throws -> String {
        var buffer = LineBuffer()
        while await socket.waits(for: .readable, until: deadline) {
            // Ready means that one read will not block, not how much it will bring: a byte, half a line, or the end.
            guard let bytes = try socket.read() else { continue }
            guard !bytes.isEmpty else { throw buffer.hasHalfLine ? CityError.halfLine : CityError.ended }
            switch buffer.feed(bytes).first {
            case .text(let line): return line
            case .tooLong: throw CityError.lineTooLong
            case nil: continue
            }
        }
        throw buffer.hasHalfLine ? CityError.halfLine : CityError.silent
    }
}
