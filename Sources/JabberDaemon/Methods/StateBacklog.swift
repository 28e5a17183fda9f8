// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// Events that are not kept, for a caller who does not take them as fast as they come. Of those that tell how things
/// stand, presence and who types, the latest of each address takes the place of those before it.
struct StateBacklog: Sendable {
    /// How many may wait; 1,000. What comes on top is missing, and the caller is told that something is.
    static let maximumWaiting = 1_000

    /// Whether somebody hands them over: they come in order then.
    var isBeingTold = false

    private var events: [Int: JSONObject] = [:]
    private var places: [String: Int] = [:]
    private var last = 0
    private var isIncomplete = false

    /// Whether an event tells how things stand, so that a later one makes it worthless.
    static func isState(_ event: JSONObject) -> Bool { key(of: event) != nil }

    /// Puts an event behind those that wait.
    mutating func put(_ event: JSONObject) {
        let key = Self.key(of: event)
        if let key, let place = places.removeValue(forKey: key) { events[place] = nil }
        guard events.count < Self.maximumWaiting else {
            isIncomplete = true
            return
        }
        last += 1
        events[last] = event
        if let key { places[key] = last }
    }

    /// Takes all that wait, in order; with none, nobody hands them over any more.
    ///
    /// - Returns: The events, and whether others are missing.
    mutating func takeAll() -> (events: [JSONObject], isIncomplete: Bool) {
        let all = events.sorted { $0.key < $1.key }.map(\.value)
        let wasIncomplete = isIncomplete
        (events, places, isIncomplete) = ([:], [:], false)
        isBeingTold = !all.isEmpty || wasIncomplete
        return (all, wasIncomplete)
    }

    private static func key(of event: JSONObject) -> String? {
        guard let type = event.string("type"), type == "presence" || type == "state" else { return nil }
        return "\(type) \(event.string("from") ?? "")"
    }
}
