// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
internal import XMPPCrypto
internal import XMPPXML

/// Message Delivery Receipts (XEP-0184).
public enum MessageDeliveryReceipts {
    /// The namespace of requests and receipts.
    public static let namespace = "urn:xmpp:receipts"
}

extension Message {
    /// Whether the sender asks for a receipt.
    public var requestsReceipt: Bool {
        get { hasPayload("request", namespace: MessageDeliveryReceipts.namespace) }
        set {
            removePayloads("request", namespace: MessageDeliveryReceipts.namespace)
            if newValue { append(Element("request", namespace: MessageDeliveryReceipts.namespace)) }
        }
    }

    /// The id of the message that this one says was received; `nil` when it is no receipt.
    public var receivedReceiptID: String? {
        payload("received", namespace: MessageDeliveryReceipts.namespace)?["id"]
    }
}

extension StanzaRoutes {
    /// Takes receipts from those to whom the messages were sent, and sends them to those who may know that the user is
    /// there.
    mutating func addMessageDeliveryReceipts() {
        addMessage(
            "received", namespace: MessageDeliveryReceipts.namespace, from: .anyone, feature: nil
        ) { (stream, message, receipt) in
            guard let id = receipt["id"], let from = message.from else { return .delivered }
            // XEP-0184 §8: only the addressee can say that it has received something.
            if stream.sentMessages.wasSent(id: id, to: from) {
                stream.report(.receipt(messageID: id, from: from))
            }
            return message.body == nil ? .dropped : .delivered
        }
        // A receipt shows that somebody is there: strangers get none (XEP-0184 §8).
        addMessage("request", namespace: MessageDeliveryReceipts.namespace, from: .contacts, feature: nil) {
            (stream, message, _) in
            // XEP-0184 §5.3, §5.4: none in rooms, and never one for a receipt.
            guard stream.configuration.sendsReceipts, message.kind != .groupchat, let id = message.id,
                let from = message.from, message.receivedReceiptID == nil
            else { return .delivered }
            var receipt = Message(to: from, kind: message.kind)
            receipt.id = stream.newStanzaID()
            receipt.append(
                Element("received", namespace: MessageDeliveryReceipts.namespace, attributes: ["id": id]))
            receipt.hints = .store
            stream.reply(receipt)
            return .delivered
        }
    }
}
