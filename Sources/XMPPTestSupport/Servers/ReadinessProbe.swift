// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import SocketIO
internal import XMPPCore

/// Asks a server whether it is there.
enum ReadinessProbe {
    private static let limit: Duration = .seconds(3)

    /// Whether the port accepts a connection.
    static func isOpen(_ port: UInt16) async -> Bool {
        let executor = StreamExecutor()
        guard
            let transport = try? await SocketTransport.connect(to: .loopback(port: port), on: executor, timeout: limit)
        else { return false }
        executor.run { transport.abort() }
        return true
    }

    /// Whether a stream header on this port is answered with features.
    static func isAnswered(_ port: UInt16, domain: JID) async -> Bool {
        let executor = StreamExecutor()
        guard
            let transport = try? await SocketTransport.connect(to: .loopback(port: port), on: executor, timeout: limit)
        else { return false }
        let header =
            "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'"
            + " to='\(domain)' version='1.0'>"
        let answer = Answer()
        executor.run {
            answer.timer = SystemClock().schedule(after: limit, on: executor) {
                answer.give(false)
                transport.abort()
            }
            transport.start { event in
                switch event {
                case .received(let bytes):
                    answer.text += bytes
                    guard String(decoding: answer.text, as: UTF8.self).contains("stream:features") else { return }
                    answer.give(true)
                    transport.abort()
                case .closed, .endOfInput: answer.give(false)
                case .drained: break
                }
            }
            transport.send(Array(header.utf8))
        }
        return await answer.outcome.value()
    }

    /// What has come so far, and whom to tell.
    ///
    /// Unchecked: what can change is confined to the queue of the probe's executor.
    private final class Answer: @unchecked Sendable {
        var text: [UInt8] = []
        var timer: (any ScheduledTimer)?
        let outcome = Handover<Bool>()

        func give(_ isThere: Bool) {
            timer?.cancel()
            timer = nil
            outcome.give(isThere)
        }
    }
}
