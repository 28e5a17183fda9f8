// SPDX-License-Identifier: Apache-2.0

internal import CUnbound
internal import Dispatch
internal import SocketIO

/// One look-up, from the making of its context to the end of it.
///
/// Unchecked: all mutable state is confined to the executor's queue.
final class UnboundLookup: @unchecked Sendable {
    /// What the name servers said.
    enum Answer: Sendable {
        /// The data of the records; whether they are signed.
        case data([[UInt8]], isSecure: Bool)
        /// There is nothing; whether that is signed.
        case none(isSecure: Bool)
        /// A signature is missing or wrong: why.
        case bogus(String)
        /// No usable answer: why.
        case failed(String)
    }

    private static let classInternet: Int32 = 1
    /// Records read of one answer; the rest is ignored.
    private static let maximumRecords = 1000

    private let executor = StreamExecutor(label: "swift-xmpp.srv")
    private let name: String
    private let type: Int32
    private let nameServers: UnboundResolver.NameServers
    private let trustedKeys: TrustedKeys?
    private let timeout: Duration
    private let answer: Handover<Answer>
    private var context: OpaquePointer?
    private var watch: DescriptorWatch?
    /// This object while libunbound may call it back.
    private var reference: Unmanaged<UnboundLookup>?
    private var isDone = false

    init(
        name: String, type: Int32, nameServers: UnboundResolver.NameServers, trustedKeys: TrustedKeys?,
        timeout: Duration, answer: Handover<Answer>
    ) {
        self.name = name
        self.type = type
        self.nameServers = nameServers
        self.trustedKeys = trustedKeys
        self.timeout = timeout
        self.answer = answer
    }

    func start() {
        executor.run { self.begin() }
    }

    func cancel() {
        executor.run { self.finish(.failed("called off")) }
    }

    private func begin() {
        guard !isDone else { return }
        guard let context = ub_ctx_create() else { return finish(.failed("out of memory")) }
        self.context = context
        if let problem = configure(context) { return finish(.failed(problem)) }
        // The callback gets this object back, until `finish` has let go of the context.
        let reference = Unmanaged.passRetained(self)
        let result = ub_resolve_async(
            context, name, type, Self.classInternet, reference.toOpaque(),
            { data, code, result in
                guard let data else { return }
                Unmanaged<UnboundLookup>.fromOpaque(data).takeUnretainedValue().resolved(code, result)
            }, nil)
        guard result == 0 else {
            reference.release()
            return finish(.failed(Self.message(result)))
        }
        self.reference = reference
        do throws(SystemError) {
            watch = try DescriptorWatch(ub_fd(context), for: .reading, on: executor) { [weak self] in self?.process() }
        } catch {
            return finish(.failed(error.description))
        }
        executor.queue.asyncAfter(deadline: .now() + timeout.inSeconds) { [weak self] in
            guard let self else { return }
            finish(.failed("no name server answered within \(timeout.spoken)"))
        }
    }

    private func process() {
        guard let context, !isDone else { return }
        let code = ub_process(context)
        if code != 0 { finish(.failed(Self.message(code))) }
    }

    /// Sets the context up; returns what went wrong.
    private func configure(_ context: OpaquePointer) -> String? {
        // Nothing on standard error: what goes wrong is in the answer.
        _ = ub_ctx_debugout(context, nil)
        // A thread, not a forked process, does the work; a resolver on this machine is as good as any.
        var code = ub_ctx_async(context, 1)
        if code == 0 { code = ub_ctx_set_option(context, "do-not-query-localhost:", "no") }
        guard code == 0 else { return Self.message(code) }
        switch nameServers {
        case .system:
            // Without the file, ask this machine, as the system's own resolver does; never the root servers.
            if ub_ctx_resolvconf(context, nil) != 0 { code = ub_ctx_set_fwd(context, "127.0.0.1") }
        case .at(let address):
            code = ub_ctx_set_fwd(context, "\(address.host)@\(address.port ?? 53)")
        case .zone(let zone, let address):
            code = ub_ctx_set_stub(context, zone, "\(address.host)@\(address.port ?? 53)", 0)
        }
        guard code == 0 else { return Self.message(code) }
        if let problem = trust(context) { return problem }
        // Names of private networks: libunbound answers "no such name" by itself unless told not to.
        for zone in ["test.", "home.arpa."] { _ = ub_ctx_zone_remove(context, zone) }
        return nil
    }

    /// Tells the context which keys signatures begin at; returns what went wrong. Without keys nothing is verified.
    private func trust(_ context: OpaquePointer) -> String? {
        var code: Int32 = 0
        switch trustedKeys {
        case nil: break
        case .system:
            guard let file = TrustedKeys.file else { return "the system has no keys of the DNS root" }
            code = ub_ctx_add_ta_file(context, file)
        case .records(let records):
            for record in records where code == 0 { code = ub_ctx_add_ta(context, record) }
        }
        return code == 0 ? nil : Self.message(code)
    }

    private func resolved(_ code: Int32, _ result: UnsafeMutablePointer<ub_result>?) {
        defer { ub_resolve_free(result) }
        guard code == 0, let result else { return finish(.failed(Self.message(code))) }
        finish(Self.answer(from: result.pointee))
    }

    private static func answer(from result: ub_result) -> Answer {
        if result.bogus != 0 {
            return .bogus(result.why_bogus.map { PrintableText.clean(String(cString: $0)) } ?? "wrongly signed")
        }
        guard result.havedata != 0, let data = result.data, let lengths = result.len else {
            switch result.rcode {
            case 0, 3: return .none(isSecure: result.secure != 0)
            case 2: return .failed("the name servers failed or did not answer (SERVFAIL)")
            case 5: return .failed("the name servers refused the question (REFUSED)")
            default: return .failed("the name servers answered with error \(result.rcode)")
            }
        }
        var records: [[UInt8]] = []
        for index in 0..<maximumRecords {
            guard let bytes = data[index] else { break }
            records.append(Array(UnsafeRawBufferPointer(start: bytes, count: max(0, Int(lengths[index])))))
        }
        return .data(records, isSecure: result.secure != 0)
    }

    private func finish(_ outcome: Answer) {
        guard !isDone else { return }
        isDone = true
        answer.give(outcome)
        watch?.cancel()
        watch = nil
        // In a turn of its own: libunbound may be what calls.
        executor.run { self.letGo() }
    }

    private func letGo() {
        if let context { ub_ctx_delete(context) }
        context = nil
        reference?.release()
        reference = nil
    }

    private static func message(_ code: Int32) -> String {
        ub_strerror(code).map { String(cString: $0) } ?? "resolver error \(code)"
    }
}
