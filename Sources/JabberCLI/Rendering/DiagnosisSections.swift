// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// What `diag` shows a person below the steps of the login: one table for each thing that was looked at.
enum DiagnosisSections {
    /// The tables with their titles, those without a row left out.
    static func all(_ result: JSONObject) -> [(title: String, records: Records)] {
        let tables = [
            ("dns", names(result)), ("published", publication(result)), ("endpoint", endpoints(result)),
            ("certificate", certificates(result)), ("offer", offers(result)), ("race", race(result)),
            ("compliance", compliance(result)), ("advice", advice(result)),
        ]
        return tables.filter { !$0.1.rows.isEmpty }
    }

    private static func table(_ rows: [JSONObject], _ columns: [Column]) -> Records {
        var records = Records(rows: rows, columns)
        records.wrapsLast = true
        return records
    }

    private static func objects(_ value: JSONValue?) -> [JSONObject] {
        (value?.arrayValue ?? []).compactMap(\.objectValue)
    }

    private static func list(_ value: JSONValue?) -> String {
        (value?.stringsValue ?? []).joined(separator: ", ")
    }

    private static func names(_ result: JSONObject) -> Records {
        table(
            objects(result["dns"]?["answers"]),
            [
                Column("NAME", "name"), Column("TYPE", "type"),
                Column("DNSSEC", "validation"), Column("MS", "milliseconds"),
                Column("RECORDS") { row in
                    if let reason = row.string("reason") { return reason }
                    let records = row["records"]?.stringsValue ?? []
                    return records.isEmpty ? "none" : records.joined(separator: "; ")
                },
            ])
    }

    /// The files in which the domain says where else its service is, in the order in which a login asks for them.
    private static func publication(_ result: JSONObject) -> Records {
        let files = [("hostMeta2", "host-meta.json"), ("hostMeta", "host-meta")]
        let rows = files.compactMap { key, name -> JSONObject? in
            guard var file = result[key]?.objectValue else { return nil }
            file["file"] = .string(name)
            return file
        }
        return table(
            rows,
            [
                Column("HOST-META", "file"), Column("STATE", "state"),
                Column("DETAIL") { file in
                    guard file.string("state") == "found" else { return file.string("reason") ?? "" }
                    return (contents(file) + [file.string("reason")].compactMap { $0 }).joined(separator: "; ")
                },
            ])
    }

    private static func contents(_ file: JSONObject) -> [String] {
        let places = objects(file["places"]).map { place in
            "\(place.string("endpoint") ?? "?") (\(place.string("way") ?? "?")) as \(place.string("name") ?? "?")"
        }
        let bosh = file.bool("bosh") == true ? ["BOSH"] : []
        let ways = places + (file["webSockets"]?.stringsValue ?? []) + bosh
        var parts = [ways.isEmpty ? "no other way" : ways.joined(separator: ", ")]
        if let seconds = file.int("ttl") { parts.append("holds for \(seconds) s") }
        let keys = list(file["pins"])
        if !keys.isEmpty { parts.append("with a key of \(keys)") }
        return parts
    }

    private static func endpoints(_ result: JSONObject) -> Records {
        table(
            objects(result["endpoints"]),
            [
                Column("ENDPOINT", "endpoint"), Column("WAY", "way"), Column("ADDRESS", "address"),
                Column("STATE", .state) { $0.bool("ok") == true ? "ok" : "failed" },
                // Connection, TLS, features.
                Column("MS") { row in
                    ["connectMilliseconds", "tlsMilliseconds", "featuresMilliseconds"]
                        .compactMap { row[$0].map(Column.exact) }.joined(separator: "+")
                },
                Column("DETAIL", compute: detail),
            ])
    }

    @Sendable private static func detail(_ endpoint: JSONObject) -> String {
        var parts = ["version", "cipher"].compactMap { endpoint.string($0) }
        if let name = endpoint.string("alpn") { parts.append("ALPN \(name)") }
        let error = endpoint["error"]?["message"]?.stringValue
        for proof in objects(endpoint["proofs"]) {
            let kind = proof.string("kind") ?? "?"
            let reason = proof.string("reason") ?? "no reason given"
            parts.append(proof.bool("ok") == true ? "verified by \(kind)" : "not verified by \(kind): \(reason)")
        }
        if let name = endpoint.string("name") { parts.append("for \(name)") }
        if endpoint.bool("privateAddress") == true { parts.append("a private address") }
        if let place = endpoint.string("redirection") { parts.append("sends logins on to \(place)") }
        // A refused certificate is told of already, in the words of the library.
        if let error, !parts.contains(where: { $0.lowercased().hasSuffix(error.lowercased()) }) { parts.append(error) }
        return parts.map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 }.joined(separator: ", ")
    }

    /// Each certificate once, with where it was shown.
    private static func certificates(_ result: JSONObject) -> Records {
        var seen: [String] = []
        var rows: [JSONObject] = []
        for endpoint in objects(result["endpoints"]) {
            for var certificate in objects(endpoint["chain"]) {
                guard let print = certificate.string("fingerprint"), !seen.contains(print) else { continue }
                seen.append(print)
                certificate["endpoint"] = endpoint["endpoint"]
                rows.append(certificate)
            }
        }
        return table(
            rows,
            [
                Column("SHOWN AT", "endpoint"), Column("VALID FROM", "notBefore"), Column("UNTIL", "notAfter"),
                Column("CERTIFICATE") { row in
                    let names = list(row["names"])
                    return "\(row.string("subject") ?? "?"), issued by \(row.string("issuer") ?? "?")"
                        + (names.isEmpty ? "" : "; names: \(names)")
                        + "; SHA-256 of the key: \(row.string("key") ?? "unknown")"
                },
            ])
    }

    /// What is offered before the login, once where several places offer the same; and after it.
    private static func offers(_ result: JSONObject) -> Records {
        let titles = [
            ("mechanisms", "mechanisms"), ("channelBindings", "bindings"), ("sasl2", "SASL2"), ("bind2", "Bind 2"),
            ("fast", "FAST"), ("features", "features"),
        ]
        var rows: [JSONObject] = []
        for (key, title) in titles {
            var texts: [(text: String, places: [String])] = []
            for endpoint in objects(result["endpoints"]) where endpoint[key] != nil {
                let text = list(endpoint[key])
                let place = "\(endpoint.string("endpoint") ?? "?") (\(endpoint.string("way") ?? "?"))"
                if let index = texts.firstIndex(where: { $0.text == text }) {
                    if !texts[index].places.contains(place) { texts[index].places.append(place) }
                } else {
                    texts.append((text, [place]))
                }
            }
            rows += texts.map { text, places in
                let suffix = texts.count > 1 ? "; at " + places.joined(separator: ", ") : ""
                return ["what": .string(title), "value": .string((text.isEmpty ? "none" : text) + suffix)]
            }
        }
        if result["features"] != nil {
            rows.append(["what": "after login", "value": .string(list(result["features"]))])
        }
        return table(rows, [Column("OFFERED", "what"), Column("VALUE", "value")])
    }

    private static func race(_ result: JSONObject) -> Records {
        let winner = result["race"]?["winner"]
        let rows = objects(result["race"]?["places"]).map { place -> JSONObject in
            var place = place
            if place.string("state") == "won" { place["reason"] = winner?["why"] }
            return place
        }
        return table(
            rows,
            [
                Column("TRIED", "endpoint"), Column("WAY", "way"), Column("STATE", "state", .state),
                Column("REASON", "reason"),
            ])
    }

    private static func compliance(_ result: JSONObject) -> Records {
        func items(_ value: JSONValue?) -> String {
            objects(value).map { "\($0.string("feature") ?? "?") (\($0.string("specification") ?? "?"))" }
                .joined(separator: ", ")
        }
        let rows = objects(result["compliance"]).map { row -> JSONObject in
            let parts = [("", items(row["missing"])), ("cannot be seen: ", items(row["unseen"]))]
            var row = row
            row["detail"] = .string(parts.filter { !$0.1.isEmpty }.map { $0.0 + $0.1 }.joined(separator: "; "))
            return row
        }
        return table(
            rows,
            [
                Column("XEP-0479", "category"), Column("LEVEL", "level"), Column("STATE", "finding"),
                Column("MISSING", "detail"),
            ])
    }

    private static func advice(_ result: JSONObject) -> Records {
        table(
            objects(result["advice"]),
            [
                Column("ADVICE", "severity"), Column("ABOUT", "subject"),
                Column("WHAT TO DO") { row in
                    let problem = row.string("problem") ?? ""
                    return
                        "\(problem.hasSuffix(".") ? String(problem.dropLast()) : problem): \(row.string("remedy") ?? "")"
                },
            ])
    }
}
