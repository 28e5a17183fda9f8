// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
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
