// SPDX-License-Identifier: Apache-2.0

/// What a domain's service looks like from here: what name servers say, which places there are, and what is found at
/// each address of each of them: TLS, certificates, and what is offered before a login.
///
/// ```swift
/// let survey = await ServerSurvey.take(of: XMPPConfiguration(jid: try JID("example.org"), password: nil))
/// for endpoint in survey.endpoints where !endpoint.isUsable { print(endpoint.place, endpoint.error ?? "") }
/// for advice in survey.advice() { print(advice.problem, advice.remedy) }
/// ```
///
/// Nothing is sent that tells more than a login would before its first secret: nobody logs in.
public struct ServerSurvey: Sendable, Hashable {
    /// Addresses looked at, at most; 24. What there is beyond is ``omittedEndpoints``.
    public static let maximumEndpoints = 24
    /// Places whose names are asked about, at most; 8.
    public static let maximumPlaces = 8

    /// The domain, as it is written in addresses.
    public var domain: String
    /// What name servers say; `nil` where nobody asks them: the place is given, or a proxy looks names up.
    public var names: NameReport?
    /// What the domain publishes over HTTPS about other ways to it: each file, in the order in which a login asks for
    /// them.
    public var publications: [Publication]
    /// What was found at each address, in the order in which a login would try the places.
    public var endpoints: [SurveyedEndpoint]
    /// How many addresses were not looked at.
    public var omittedEndpoints: Int
    /// Why there is no place at all; `nil` where there are some.
    public var error: XMPPError?

    /// Whether a login could begin somewhere.
    public var isUsable: Bool { endpoints.contains(where: \.isUsable) }
}
