// SPDX-License-Identifier: Apache-2.0

import XMPP

extension XMPPStream {
    /// Answers everybody who may see our presence and asks how the room is. To be called before the stream connects:
    /// service discovery then tells from the start that we can.
    func answerRoomClimate(with measure: @escaping @Sendable () async throws -> RoomClimate) {
        answer(.get, RoomClimate.elementName.localName, namespace: RoomClimate.namespace, from: .contacts) { _, _ in
            try await measure().element
        }
    }

    /// Asks another client how its room is.
    ///
    /// - Parameter jid: The client's full address; a bare one would be answered by its server.
    /// - Throws: ``XMPPError`` when it does not know, does not answer, or does not want us to know.
    func roomClimate(of jid: JID) async throws(XMPPError) -> RoomClimate {
        let question = IQ(.get, to: jid, payload: Element(RoomClimate.elementName))
        return try await request(question, expecting: RoomClimate.self, timeout: .seconds(10))
    }
}

extension Message {
    /// The climate that comes along with the text. Clients that do not know the element show the text alone.
    var roomClimate: RoomClimate? {
        get { payload(RoomClimate.self) }
        set {
            if let newValue { setPayload(newValue) } else { removePayload(RoomClimate.self) }
        }
    }
}
