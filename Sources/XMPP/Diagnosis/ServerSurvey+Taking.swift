// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPCore
internal import XMPPTransport

extension ServerSurvey {
    /// How long a survey may take unless said otherwise; 20 s.
    public static let defaultLimit: Duration = .seconds(20)

    /// Takes a survey. Everything is looked at side by side; what has not answered in time is told so, and the rest all
    /// the same.
    ///
    /// - Parameters:
    ///   - configuration: An account, or a domain without one, and the way there. Its password is not used.
    ///   - limit: How long it may take.
    /// - Returns: What was found. Cancelling the task ends it early, with what was found until then.
    public static func take(
        of configuration: XMPPConfiguration, within limit: Duration = ServerSurvey.defaultLimit
    ) async -> ServerSurvey {
        let surveyor = Surveyor(configuration: configuration)
        let task = Task { await surveyor.run() }
        let timer = configuration.clock.schedule(after: limit, on: surveyor.executor) { task.cancel() }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

/// Takes one survey.
private struct Surveyor: Sendable {
    let configuration: XMPPConfiguration
    let executor = StreamExecutor(label: "swift-xmpp.survey")

    private var connector: any StreamConnector { configuration.route }
    private var domain: String { configuration.jid.connectDomain }
    private var isGiven: Bool { configuration.givenPlace != nil }
    private var names: NameSources? { isGiven ? nil : connector.names }

    func run() async -> ServerSurvey {
        var survey = ServerSurvey(
            domain: configuration.jid.domainpart, names: nil, publications: [], endpoints: [], omittedEndpoints: 0
        )
        async let published = publications()
        async let services = serviceAnswers()
        let targets: [ConnectionTarget]
        do throws(ConnectError) {
            targets = try await connector.targets(for: domain, override: configuration.givenPlace)
        } catch {
            targets = []
            survey.error = error == .cancelled ? .cancelledSurvey : XMPPError(error, domain: domain)
        }
        async let hosts = hostAnswers(targets)
        let probes = await probes(of: targets)
        async let found = endpoints(probes)
        let files = await published
        survey.publications = files.map(\.publication)
        var webTargets: [ConnectionTarget] = []
        for target in files.flatMap(\.targets) where !webTargets.contains(target) { webTargets.append(target) }
        let webProbes = await self.probes(of: webTargets)
        let kept = min(probes.count, ServerSurvey.maximumEndpoints)
        let web = Array(webProbes.prefix(ServerSurvey.maximumEndpoints - kept))
        survey.endpoints = await found + endpoints(web)
        survey.omittedEndpoints = probes.count - kept + webProbes.count - web.count
        let answers = await services + hosts
        if let names { survey.names = NameReport(canVerify: names.verifier.canVerify, answers: answers) }
        return survey
    }

    // MARK: Places

    /// A probe for each address of each place; for a place without any, one that finds out why.
    private func probes(of targets: [ConnectionTarget]) async -> [EndpointProbe] {
        await ordered(targets) { target in
            var probe = EndpointProbe(configuration: configuration, target: target)
            guard let resolver = connector.names?.addresses, SocketAddress(literal: target.host, port: 0) == nil,
                let found = try? await resolver.addresses(of: target.host, port: target.port)
            else {
                probe.address = SocketAddress(literal: target.host, port: target.port)
                return [probe]
            }
            return found.map { address in
                var probe = probe
                probe.address = address
                probe.isNamed = ConnectionPlanner.asksNameServers(about: target.host)
                return probe
            }
        }.flatMap { $0 }
    }

    /// What is found by these probes. What DNS says about the certificates of a place is asked meanwhile, once for all
    /// its addresses.
    private func endpoints(_ probes: [EndpointProbe]) async -> [SurveyedEndpoint] {
        let probes = Array(probes.prefix(ServerSurvey.maximumEndpoints))
        var targets: [ConnectionTarget] = []
        for probe in probes where !targets.contains(probe.target) { targets.append(probe.target) }
        return await ordered(targets) { target in
            async let signed = proof(of: target)
            let own = probes.filter { $0.target == target }
            let sights = await ordered(own) { await $0.look() }
            let proof = await signed
            return await ordered(Array(zip(own, sights))) { probe, sight in await probe.conclude(sight, proof) }
        }.flatMap { $0 }
    }

    private func proof(of target: ConnectionTarget) async -> Result<DANEProof?, XMPPError> {
        do throws(ConnectError) {
            return .success(try await connector.proof(of: target, domain: domain, isGiven: isGiven).proof)
        } catch {
            return .failure(error == .cancelled ? .cancelledSurvey : XMPPError(error, domain: domain))
        }
    }

    private typealias Published = (publication: ServerSurvey.Publication, targets: [ConnectionTarget])

    /// What the domain publishes over HTTPS, and the places that it names.
    private func publications() async -> [Published] {
        let files = ServerSurvey.Publication.File.allCases
        let reason: String? =
            if isGiven {
                "the place is given"
            } else if !configuration.asksWebForPlaces {
                "the account does not ask the web"
            } else {
                connector.reachesWeb ? nil : "there is no way to web servers from here"
            }
        if let reason { return files.map { (ServerSurvey.Publication($0, .notAsked, reason: reason), []) } }
        return await ordered(files) { await published($0) }
    }

    private func published(_ file: ServerSurvey.Publication.File) async -> Published {
        do throws(WebDocument.Failure) {
            let contents = try await configuration.webDocument(
                file.path, file.mediaTypes[0], over: connector, on: executor)
            var generator = RandomBits(source: configuration.random)
            return ServerSurvey.Publication.read(
                file, contents, isDelegating: configuration.usesHostMeta2, using: &generator)
        } catch {
            return (ServerSurvey.Publication(file, error), [])
        }
    }

    // MARK: Name servers

    private func serviceAnswers() async -> [NameReport.Answer] {
        guard let verifier = names?.verifier, ConnectionPlanner.asksNameServers(about: domain) else { return [] }
        return await ordered(["_xmpps-client._tcp", "_xmpp-client._tcp"]) { service, start in
            let name = "\(service).\(domain)"
            return answer(name, .service, await verifier.verifiedServices(for: name), since: start) { record in
                "\(record.priority) \(record.weight) \(record.port) \(record.target)."
            }
        }
    }

    private func hostAnswers(_ targets: [ConnectionTarget]) async -> [NameReport.Answer] {
        guard let verifier = names?.verifier else { return [] }
        var seen: Set<String> = []
        let hosts = targets.map(\.host).filter {
            ConnectionPlanner.asksNameServers(about: $0) && seen.insert($0).inserted
        }.prefix(ServerSurvey.maximumPlaces)
        let addresses = await ordered(hosts.flatMap { host in AddressFamily.allCases.map { (host, $0) } }) {
            question, start in
            let (host, family) = question
            let found = await verifier.verifiedAddresses(for: host, family)
            return answer(host, family == .ipv4 ? .ipv4 : .ipv6, found, since: start) { $0.host }
        }
        let keys = await ordered(
            Array(targets.prefix(ServerSurvey.maximumPlaces)).filter {
                ConnectionPlanner.asksNameServers(about: $0.host)
            }
        ) { target, start in
            let name = "_\(target.port)._tcp.\(target.host)"
            return answer(name, .key, await verifier.verifiedKeys(for: name), since: start) { record in
                "\(record.usage) \(record.selector) \(record.matchingType) \(record.data.hexadecimal)"
            }
        }
        return addresses + keys
    }

    private func answer<Record>(
        _ name: String, _ type: NameReport.Answer.RecordType, _ found: VerifiedAnswer<Record>, since start: Duration,
        _ text: (Record) -> String
    ) -> NameReport.Answer {
        let validation: NameReport.Answer.Validation
        var records: [Record] = []
        var reason: String?
        switch found {
        case .secure(let list): (validation, records) = (.secure, list)
        case .insecure(let list): (validation, records) = (.insecure, list)
        case .bogus(let why): (validation, reason) = (.bogus, why)
        case .failed(let why): (validation, reason) = (.failed, why)
        }
        return NameReport.Answer(
            name: name, type: type, validation: validation,
            records: records.prefix(NameReport.maximumRecords).map(text), reason: reason,
            duration: configuration.clock.now - start)
    }

    // MARK: Side by side

    /// Does the same for all of these at once; the results are in their order.
    private func ordered<Input: Sendable, Output: Sendable>(
        _ inputs: [Input], _ work: @escaping @Sendable (Input, Duration) async -> Output
    ) async -> [Output] {
        let start = configuration.clock.now
        return await withTaskGroup(of: (Int, Output).self) { group in
            for (index, input) in inputs.enumerated() {
                group.addTask { (index, await work(input, start)) }
            }
            var results: [(Int, Output)] = []
            for await result in group { results.append(result) }
            return results.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private func ordered<Input: Sendable, Output: Sendable>(
        _ inputs: [Input], _ work: @escaping @Sendable (Input) async -> Output
    ) async -> [Output] {
        await ordered(inputs) { input, _ in await work(input) }
    }
}
