// SPDX-License-Identifier: Apache-2.0

/// What is said to a proxy until it passes bytes on. Without I/O: what happened goes in, what to do comes out.
protocol ProxyDialogue: Sendable {
    /// How far it has come.
    var phase: ProxyError.Phase { get }

    /// The proxy is connected.
    mutating func connected() -> [ProxyAction]

    /// The proxy has said something.
    mutating func received(_ bytes: [UInt8]) -> [ProxyAction]
}

/// What a ``ProxyDialogue`` wants done.
enum ProxyAction: Sendable, Equatable {
    /// Send these bytes to the proxy.
    case send([UInt8])
    /// There is a way: from the next byte on it is the server that speaks.
    case connected
    /// There is none. Nothing follows.
    case failed(ProxyError)
}
