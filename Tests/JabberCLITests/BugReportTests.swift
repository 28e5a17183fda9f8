// SPDX-License-Identifier: Apache-2.0

import Foundation
import JabberControl
import Testing
import XMPPTestSupport

@testable import JabberCLI

@Suite("jabberctl bugreport and daemon info --openmetrics")
struct BugReportTests {
    static let status: JSONValue = [
        "api": 1, "daemon": ["version": "0.1.0", "instance": "abc", "pid": 7],
        "accounts": [
            [
                "name": "wo\"rk\\", "jid": "me@example.org", "connection": "connected", "reconnects": 2, "queued": 1,
                "uncertain": 0, "unwritten": 0, "contacts": 3, "online": 1,
                "counters": [
                    "stanzasReceived": 10, "stanzasSent": 5, "bytesReceived": 9_007_199_254, "bytesSent": 200,
                    "roundTrips": 4, "roundTripMilliseconds": 12.5,
                ],
            ],
            [
                "name": "odd", "connection": "failed",
                "reason": ["code": "configuration", "message": "marker-1 is wrong"],
            ],
        ],
    ]

    @Test("A report holds versions, settings, log and status, and none of the secrets, wherever they stand")
    func report() async throws {
        let folder = try TestFolder()
        try folder.write(
            #"{"jid": "me@example.org", "password": "marker-1", "proxy": "socks5://u:marker-2@h:1080", "accessToken": "marker-3"}"#,
            to: ".config/jabberctl/accounts/me.json")
        try folder.write("first\nthe server said: marker-1 marker-3\n", to: ".local/state/jabberctl/daemon.log")
        let surroundings = Surroundings(
            variables: ["JABBERCTL_PASSWORD": "marker-4", "JABBERCTL_SOCKET": "/x", "EDITOR": "vi"], home: folder.path)
        let run = await jabberctl("bugreport", daemon: FakeDaemon("status", Self.status), in: surroundings)
        #expect(run.code == 0, "\(run)")
        #expect(!run.output.contains("marker") && run.output.contains(BugReport.mark))
        let report = try #require(JSONReader.read(Array(run.output.utf8)).objectValue)
        #expect(report.string("jabberctl") == "0.1.0" && report.value(at: "daemon.daemon.pid") == 7)
        #expect(report["log"]?.stringsValue?.first == "first")
        #expect(report.value(at: "settings.accounts")?.arrayValue?.first?["jid"] == "me@example.org")
        #expect(report.value(at: "environment.JABBERCTL_PASSWORD") == "set")
        #expect(report["environment"]?["EDITOR"] == nil)
        #expect(run.asked.map(\.method) == ["status"])
    }

    @Test("A report is made without a daemon and with settings that cannot be read, and replaces no file")
    func withoutDaemon() async throws {
        let folder = try TestFolder()
        try folder.write("{", to: ".config/jabberctl/config.json")
        let gone = FakeDaemon("status", failing: ControlError(.daemonNotRunning, "no daemon runs"))
        let surroundings = Surroundings(home: folder.path)
        let run = await jabberctl("bugreport", "--file", "report.json", daemon: gone, in: surroundings)
        #expect(run.code == 0 && run.output.isEmpty && run.errors.contains("addresses are in it"), "\(run)")
        let report = try #require(JSONReader.read(Array(folder.text("report.json").utf8)).objectValue)
        #expect(report.value(at: "daemon.error.code") == "daemon-not-running")
        #expect(report.value(at: "settings.error.code") == "configuration")
        #expect(folder.mode("report.json") == 0o600)
        #expect(await jabberctl("bugreport", "--file", "report.json", daemon: gone, in: surroundings).code == 74)
    }

    /// Reads the text format of OpenMetrics 1.0 as strictly as its grammar is.
    private func samples(_ text: String) throws -> [String: Double] {
        #expect(text.hasSuffix("\n# EOF\n"))
        var samples: [String: Double] = [:]
        var family = (name: "", type: "", unit: "")
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast(2) {
            if let match = line.wholeMatch(of: /# (TYPE|UNIT|HELP) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)/) {
                switch match.1 {
                case "TYPE":
                    family = (String(match.2), String(match.3), "")
                    #expect(["counter", "gauge", "info"].contains(family.type))
                case "UNIT":
                    #expect(match.2 == family.name && family.name.hasSuffix("_" + match.3))
                default:
                    #expect(match.2 == family.name)
                }
                continue
            }
            let sample = try #require(
                line.wholeMatch(
                    of: /([a-zA-Z_:][a-zA-Z0-9_:]*)\{((?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)+)\} (-?[0-9]+(?:\.[0-9]+)?)/
                ),
                "\(line)")
            let suffix = ["counter": "_total", "info": "_info"][family.type] ?? ""
            #expect(sample.1 == family.name + suffix)
            #expect(samples["\(sample.1){\(sample.2)}"] == nil)
            samples["\(sample.1){\(sample.2)}"] = Double(sample.3)
        }
        return samples
    }

    @Test("The figures of status are printed as OpenMetrics 1.0, names of accounts escaped")
    func metrics() async throws {
        let run = await jabberctl("daemon", "info", "--openmetrics", daemon: FakeDaemon("status", Self.status))
        #expect(run.code == 0)
        let found = try samples(run.output)
        let account = #"{account="wo\"rk\\"}"#
        #expect(found["jabberctld_account_connected\(account)"] == 1)
        #expect(found[#"jabberctld_account_connected{account="odd"}"#] == 0)
        #expect(found["jabberctld_received_bytes_total\(account)"] == 9_007_199_254)
        #expect(found["jabberctld_round_trip_seconds\(account)"] == 0.0125)
        #expect(found["jabberctld_reconnects_total\(account)"] == 2)
        #expect(found.count == 15)
    }

    private static let python = "/usr/bin/python3"

    /// Whether the library that Prometheus has for Python is there; where it must be, it counts as such.
    private static var hasParser: Bool {
        get async {
            if ProcessInfo.processInfo.environment["CI"] == "true" { return true }
            let run = try? await FinishedProgram.run([python, "-c", "import prometheus_client.openmetrics.parser"])
            return run?.code == 0
        }
    }

    @Test(
        "The library of Prometheus reads them as what they are (OpenMetrics 1.0)",
        .enabled("python3-prometheus-client is not installed") { await hasParser })
    func metricsElsewhere() async throws {
        let run = await jabberctl("daemon", "info", "--openmetrics", daemon: FakeDaemon("status", Self.status))
        let script = """
            import json, sys
            from prometheus_client.openmetrics.parser import text_string_to_metric_families
            for family in text_string_to_metric_families(sys.stdin.read()):
                for sample in family.samples:
                    print(json.dumps([family.name, family.type, family.unit, sample.name, sample.labels, sample.value]))
            """
        let parsed = try await FinishedProgram.run([Self.python, "-c", script], input: run.output)
        #expect(parsed.code == 0, "\(parsed.errors)")
        let rows = try parsed.output.split(separator: "\n").map { try JSONReader.read(Array($0.utf8)).arrayValue ?? [] }
        #expect(rows.count == 15)
        func row(_ name: String, _ labels: JSONValue) -> [JSONValue]? {
            rows.first { $0.count == 6 && $0[3] == .string(name) && $0[4] == labels }
        }
        let account: JSONValue = ["account": "wo\"rk\\"]
        #expect(row("jabberctld_info", ["version": "0.1.0", "instance": "abc"])?[1] == "info")
        #expect(row("jabberctld_account_connected", account)?[1] == "gauge")
        let bytes = row("jabberctld_received_bytes_total", account)
        #expect(bytes?.prefix(3) == ["jabberctld_received_bytes", "counter", "bytes"])
        #expect(bytes?[5].doubleValue == 9_007_199_254)
        let trip = row("jabberctld_round_trip_seconds", account)
        #expect(trip?.prefix(3) == ["jabberctld_round_trip_seconds", "gauge", "seconds"])
        #expect(trip?[5].doubleValue == 0.0125)
        #expect(row("jabberctld_account_connected", ["account": "odd"])?[5].doubleValue == 0)
    }
}
