// SPDX-License-Identifier: Apache-2.0

/// Hears of what happens in rooms. The rules of ``ChatDelegate`` hold; an object that is more than one kind of delegate
/// gets all calls in one order.
public protocol RoomDelegate: AnyObject, Sendable {
    /// Something was said to all in a room, by the user too.
    func room(_ room: Room, didReceive message: RoomMessage) async

    /// Anything else happened in a room: somebody came or went, the subject changed, the user was let in or shown out.
    func room(_ room: Room, didReport event: RoomEvent) async
}

extension RoomDelegate {
    /// Does nothing.
    public func room(_ room: Room, didReceive message: RoomMessage) async {}
    /// Does nothing.
    public func room(_ room: Room, didReport event: RoomEvent) async {}
}
