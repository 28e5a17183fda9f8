// SPDX-License-Identifier: Apache-2.0

internal import XMPP
internal import XMPPTestSupport

/// Who lives on the server of a demonstration.
enum Demonstration {
    static let domain = "example.org"
    static let username = "juliet"

    static let buddies = [
        LoopbackBuddy("romeo", name: "Romeo", groups: ["Montague"], resource: "orchard"),
        LoopbackBuddy("echo", name: "Echo", groups: ["Helpers"], resource: "cave"),
        LoopbackBuddy(
            "nurse", name: "Nurse", groups: ["Capulet"], resource: "kitchen",
            presence: Presence(show: .away, status: "in the house"), behaviors: []),
        LoopbackBuddy(
            "mercutio", name: "Mercutio", groups: ["Montague"], resource: "square",
            presence: Presence(status: "a plague on both your houses"), behaviors: [.leavesWhenTold("bye")]),
        LoopbackBuddy(
            "tybalt", name: "Tybalt", groups: ["Capulet"], resource: "street", presence: nil, behaviors: [],
            schedule: [.init(after: .seconds(1), Presence(show: .dnd, status: "looking for trouble"))]),
    ]
}
