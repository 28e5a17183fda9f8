// SPDX-License-Identifier: Apache-2.0

import ExampleSupport
import XMPP

/// Reads the climates that come along with messages.
final class ClimateListener: MessageDelegate {
    /// What arrived, with its sender; the last 100.
    let climates: AsyncStream<(sender: JID, climate: RoomClimate)>
    private let arrived: AsyncStream<(sender: JID, climate: RoomClimate)>.Continuation

    init() {
        (climates, arrived) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(100))
    }

    func stream(_ stream: XMPPStream, didReceive message: Message) async {
        guard let sender = message.from, let climate = message.roomClimate else { return }
        say("\(sender) tells: \(climate)")
        arrived.yield((sender, climate))
    }
}
