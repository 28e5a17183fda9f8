// SPDX-License-Identifier: Apache-2.0

import Dispatch
import ExampleSockets

/// The other end: answers each `HELLO` with a line, or as badly as it is told to.
struct CityServer {
    /// How it answers.
    enum Manner: Sendable {
        /// With the line.
        case polite
        /// Not at all.
        case silent
        /// With the line's first half, and goodbye.
        case halfLine
    }

    static let cities = ["Verona", "Mantua", "Padua", "Venezia", "Köln"]

    /// How long a client may take for each step.
    static let clientLimit = DispatchTimeInterval.seconds(5)

    var manner = Manner.polite

    /// Answers everybody who connects, until the listener stops.
    func serve(_ connections: AsyncStream<Descriptor>) async {
        await withDiscardingTaskGroup { group in
            for await socket in connections {
                group.addTask { await answer(socket) }
            }
            group.cancelAll()
        }
    }

    private func answer(_ socket: Descriptor) async {
        let deadline = DispatchTime.now() + Self.clientLimit
        var buffer = LineBuffer()
        while await socket.waits(for: .readable, until: deadline) {
            // Whoever breaks off gets no answer.
            guard let bytes = try? socket.read(), !bytes.isEmpty else { return }
            guard buffer.feed(bytes).contains(.text("HELLO")) else { continue }
            let line = Array((Self.cities.joined(separator: ":") + "\n").utf8)
            switch manner {
            case .polite: _ = try? socket.write(line)
            case .halfLine: _ = try? socket.write(line.prefix(line.count / 2))
            // Reads on: the client gives up first.
            case .silent: continue
            }
            return
        }
    }
}
