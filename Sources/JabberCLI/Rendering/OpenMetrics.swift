// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// The figures of `status` in the text format of OpenMetrics 1.0.
enum OpenMetrics {
    private enum Kind: String {
        case counter, gauge, info
    }

    /// One family of figures of the accounts: its name, what it is, and where `status` has it.
    private struct Family {
        let name: String
        let kind: Kind
        let unit: String?
        let help: String
        let value: @Sendable (JSONObject) -> Double?
    }

    private static let families = [
        Family(
            name: "jabberctld_account_connected", kind: .gauge, unit: nil, help: "Whether the account is connected.",
            value: { $0.string("connection") == "connected" ? 1 : 0 }),
        counter("stanzas_received", nil, "Stanzas that came.", "counters.stanzasReceived"),
        counter("stanzas_sent", nil, "Stanzas that went.", "counters.stanzasSent"),
        counter("received_bytes", "bytes", "Bytes that came, inside of TLS.", "counters.bytesReceived"),
        counter("sent_bytes", "bytes", "Bytes that went, inside of TLS.", "counters.bytesSent"),
        counter("round_trips", nil, "Pings to the server that have come back.", "counters.roundTrips"),
        counter("reconnects", nil, "How often the session was established again.", "reconnects"),
        gauge("queued_messages", "Messages that wait to be sent.", "queued"),
        gauge("uncertain_messages", "Messages of which nobody knows whether the server has them.", "uncertain"),
        gauge("unwritten_messages", "Messages that have come and are not on the disk yet.", "unwritten"),
        gauge("contacts", "Contacts, while connected.", "contacts"),
        gauge("contacts_online", "How many of them are online.", "online"),
        Family(
            name: "jabberctld_round_trip_seconds", kind: .gauge, unit: "seconds",
            help: "How long the last ping to the server took.",
            value: { $0.value(at: "counters.roundTripMilliseconds")?.doubleValue.map { $0 / 1_000 } }),
    ]

    private static func counter(_ name: String, _ unit: String?, _ help: String, _ path: String) -> Family {
        Family(
            name: "jabberctld_\(name)", kind: .counter, unit: unit, help: help,
            value: { $0.value(at: path)?.doubleValue })
    }

    private static func gauge(_ name: String, _ help: String, _ path: String) -> Family {
        Family(
            name: "jabberctld_\(name)", kind: .gauge, unit: nil, help: help, value: { $0.value(at: path)?.doubleValue })
    }

    /// The text, which ends with `# EOF`.
    ///
    /// - Parameter status: The result of the method `status`.
    static func text(_ status: JSONObject) -> String {
        let daemon = status["daemon"]?.objectValue ?? [:]
        let accounts = (status["accounts"]?.arrayValue ?? []).compactMap(\.objectValue)
        var lines = [
            "# TYPE jabberctld info", "# HELP jabberctld The daemon.",
            "jabberctld_info{version=\"\(escaped(daemon.string("version") ?? ""))\","
                + "instance=\"\(escaped(daemon.string("instance") ?? ""))\"} 1",
        ]
        for family in families {
            let samples = accounts.compactMap { account in
                family.value(account).map { (account.string("name") ?? "", $0) }
            }
            guard !samples.isEmpty else { continue }
            lines.append("# TYPE \(family.name) \(family.kind.rawValue)")
            if let unit = family.unit { lines.append("# UNIT \(family.name) \(unit)") }
            lines.append("# HELP \(family.name) \(family.help)")
            let suffix = family.kind == .counter ? "_total" : ""
            for (account, value) in samples {
                lines.append("\(family.name)\(suffix){account=\"\(escaped(account))\"} \(number(value))")
            }
        }
        return (lines + ["# EOF"]).joined(separator: "\n") + "\n"
    }

    /// A number without a fraction where it has none.
    private static func number(_ value: Double) -> String {
        Int64(exactly: value).map(String.init) ?? "\(value)"
    }

    /// The value of a label: quotes, backslashes and line feeds are escaped.
    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.append(character)
            }
        }
    }
}
