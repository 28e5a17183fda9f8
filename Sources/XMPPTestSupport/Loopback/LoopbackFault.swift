// SPDX-License-Identifier: Apache-2.0

/// Something that goes wrong with the bytes of one connection of a ``LoopbackServer``.
public enum LoopbackFault: Sendable, Hashable {
    /// Whose bytes are concerned.
    public enum Direction: Sendable, Hashable {
        /// What the server sends.
        case toClient
        /// What the client sends.
        case fromClient
    }

    /// How a connection ends.
    public enum Ending: Sendable, Hashable {
        /// As if the server had closed it: FIN; on the layer ``Layer/stream`` after TLS's closing message.
        case close
        /// A TCP reset.
        case reset
    }

    /// Which bytes are counted and hit.
    public enum Layer: Sendable, Hashable, CaseIterable {
        /// Those on the wire: the records of TLS, and what precedes them.
        case wire
        /// Those of the XML stream inside TLS.
        case stream
    }

    /// After this many bytes the connection ends.
    case cut(afterBytes: Int, Direction = .toClient, Ending = .close)
    /// After this many bytes no more come through, and nobody says so.
    case stall(afterBytes: Int, Direction = .toClient)
    /// The server's bytes come at this rate.
    case slow(bytesPerSecond: Int)
    /// The server's bytes come in pieces of this size, each in a write of its own.
    case slice(bytes: Int)
}
