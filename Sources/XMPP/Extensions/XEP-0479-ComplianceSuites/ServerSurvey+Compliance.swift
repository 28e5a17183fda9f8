// SPDX-License-Identifier: Apache-2.0

extension ServerSurvey {
    /// Adds what was seen of the places of the server to what its answers have shown.
    public func complete(_ evidence: inout ComplianceEvidence) {
        func isUsable(_ way: StreamPlace.Way) -> Bool? {
            let places = endpoints.filter { $0.place.way == way }
            return places.isEmpty ? nil : places.contains(where: \.isUsable)
        }
        // Where name servers were asked, what they do not name is not there.
        evidence.hasDirectTLS = isUsable(.directTLS) ?? (names == nil ? nil : false)
        evidence.hasWebSocket = isUsable(.webSocket)
        let found = publications.filter { $0.state == .found }
        if !found.isEmpty { evidence.hasBOSH = found.contains(where: \.hasBOSH) }
        evidence.offers = endpoints.compactMap(\.features) + evidence.offers
    }
}
