// SPDX-License-Identifier: Apache-2.0

import JabberControl
import Testing

@testable import JabberCLI

@Suite("What diag shows")
struct DiagnosisTests {
    @Test("on a terminal what diag has found is wrapped, not cut")
    func wrapsDiagnosis() async {
        let detail = "CN=example.org, issued by CN=R11, valid until 2027-01-02, proved by the name example.org"
        let result: JSONValue = [
            "ok": true, "steps": [["step": "certificate", "state": "ok", "detail": .string(detail)]],
        ]
        let run = await jabberctl(
            "diag", "--color=never", daemon: FakeDaemon("diag", result), in: Surroundings(isTerminal: true, width: 60))
        #expect(
            run.lines == [
                "STEP         STATE  DETAIL",
                "certificate  ok     CN=example.org, issued by CN=R11, valid",
                "                    until 2027-01-02, proved by the name",
                "                    example.org",
            ])
    }

    private static let result: JSONValue = [
        "ok": true, "steps": [["step": "srv", "state": "ok", "milliseconds": 3, "detail": "2 records"]],
        "dns": [
            "verifies": true,
            "answers": [
                [
                    "name": "_xmpp-client._tcp.example.org", "type": "SRV", "validation": "secure", "milliseconds": 3,
                    "records": ["0 5 5222 xmpp.example.org."],
                ],
                [
                    "name": "xmpp.example.org", "type": "AAAA", "validation": "secure", "milliseconds": 2,
                    "records": [],
                ],
                [
                    "name": "_5222._tcp.xmpp.example.org", "type": "TLSA", "validation": "bogus", "milliseconds": 4,
                    "records": [], "reason": "no signature",
                ],
            ],
        ],
        "hostMeta2": [
            "state": "found", "ttl": 600, "bosh": false, "pins": ["aabb"],
            "reason": "1 link is incomplete, and passed over",
            "places": [["endpoint": "192.0.2.1:443", "way": "direct", "priority": 1, "name": "chat.example.org"]],
        ],
        "hostMeta": ["state": "found", "webSockets": ["wss://example.org:443/ws"], "bosh": true],
        "endpoints": [
            [
                "endpoint": "xmpp.example.org:5222", "way": "starttls", "address": "192.0.2.1:5222", "ok": true,
                "connectMilliseconds": 1.5, "tlsMilliseconds": 4, "featuresMilliseconds": 0.5, "version": "TLSv1.3",
                "cipher": "TLS_AES_256_GCM_SHA384", "name": "example.org", "mechanisms": ["SCRAM-SHA-1", "PLAIN"],
                "proofs": [["kind": "pkix", "ok": true], ["kind": "dane", "ok": false, "reason": "another key"]],
                "chain": [
                    [
                        "subject": "CN=example.org", "issuer": "CN=R11", "notBefore": "2026-01-01T00:00:00Z",
                        "notAfter": "2026-04-01T00:00:00Z", "names": ["example.org"], "fingerprint": "aa", "key": "bb",
                    ]
                ],
            ],
            [
                "endpoint": "xmpp.example.org:5222", "way": "starttls", "address": "[2001:db8::1]:5222", "ok": false,
                "error": ["code": "service-unavailable", "message": "refused"], "proofs": [], "chain": [],
            ],
        ],
        "race": [
            "places": [["endpoint": "xmpp.example.org:5222", "way": "starttls", "state": "won"]],
            "winner": ["endpoint": "xmpp.example.org:5222", "way": "starttls", "why": "it comes first"],
        ],
        "compliance": [
            [
                "category": "im", "level": "core", "finding": "missing",
                "missing": [["feature": "File upload", "specification": "XEP-0363"]],
                "unseen": [["feature": "Server extensibility", "specification": "XEP-0114"]],
            ]
        ],
        "advice": [
            ["severity": "hint", "subject": "example.org", "problem": "there is no direct TLS.", "remedy": "offer it"]
        ],
    ]

    private static let rows = [
        "srv\tok\t3\t2 records",
        "dns\t_xmpp-client._tcp.example.org\tSRV\tsecure\t3\t0 5 5222 xmpp.example.org.",
        "dns\txmpp.example.org\tAAAA\tsecure\t2\tnone",
        "dns\t_5222._tcp.xmpp.example.org\tTLSA\tbogus\t4\tno signature",
        "published\thost-meta.json\tfound\t192.0.2.1:443 (direct) as chat.example.org; holds for 600 s; with a key of aabb; "
            + "1 link is incomplete, and passed over",
        "published\thost-meta\tfound\twss://example.org:443/ws, BOSH",
        "endpoint\txmpp.example.org:5222\tstarttls\t192.0.2.1:5222\tok\t1.5+4+0.5\tTLSv1.3, TLS_AES_256_GCM_SHA384, "
            + "verified by pkix, not verified by dane: another key, for example.org",
        "endpoint\txmpp.example.org:5222\tstarttls\t[2001:db8::1]:5222\tfailed\t\trefused",
        "certificate\txmpp.example.org:5222\t2026-01-01T00:00:00Z\t2026-04-01T00:00:00Z\tCN=example.org, issued by CN=R11; "
            + "names: example.org; SHA-256 of the key: bb",
        "offer\tmechanisms\tSCRAM-SHA-1, PLAIN",
        "race\txmpp.example.org:5222\tstarttls\twon\tit comes first",
        "compliance\tim\tcore\tmissing\tFile upload (XEP-0363); cannot be seen: Server extensibility (XEP-0114)",
        "advice\thint\texample.org\tthere is no direct TLS: offer it",
    ]

    @Test("in a pipe each row says in front which table it is of")
    func pipe() async {
        let run = await jabberctl("diag", daemon: FakeDaemon("diag", Self.result), in: Surroundings())
        #expect(run.lines == ["step\t" + Self.rows[0]] + Self.rows.dropFirst() && run.code == 0)
    }

    @Test(
        "what became of asking for host-meta is said in every state, with the reason",
        arguments: ["skipped", "absent", "wrongType", "notHTTPS", "wrongName", "untrusted", "unreachable"])
    func published(state: String) async {
        let file: JSONValue = ["state": .string(state), "reason": "because of that"]
        let daemon = FakeDaemon("diag", ["ok": true, "steps": [], "hostMeta2": file, "hostMeta": file])
        let run = await jabberctl("diag", daemon: daemon, in: Surroundings())
        #expect(
            run.lines == ["host-meta.json", "host-meta"].map { "published\t\($0)\t\(state)\tbecause of that" }, "\(run)"
        )
    }

    @Test("a file that is found and names nothing is told as that")
    func publishedNothing() async {
        let daemon = FakeDaemon(
            "diag", ["ok": true, "steps": [], "hostMeta2": ["state": "found", "webSockets": [], "bosh": false]])
        let run = await jabberctl("diag", daemon: daemon, in: Surroundings())
        #expect(run.lines == ["published\thost-meta.json\tfound\tno other way"], "\(run)")
    }

    @Test("for programs there are the steps alone, and the whole in the document")
    func programs() async {
        let daemon = FakeDaemon("diag", Self.result)
        let rows = await jabberctl("diag", "-o", "tsv", daemon: daemon, in: Surroundings())
        #expect(rows.lines == [Self.rows[0]])
        let field = await jabberctl("diag", "-g", "step", daemon: daemon, in: Surroundings())
        #expect(field.lines == ["srv"])
        let document = await jabberctl("diag", "--json", daemon: daemon, in: Surroundings())
        #expect(document.output == Self.result.text + "\n")
    }

    @Test("on a terminal each table has its headings, a blank line before it, and no line that is too long")
    func terminal() async {
        let run = await jabberctl(
            "diag", "--color=never", daemon: FakeDaemon("diag", Self.result),
            in: Surroundings(isTerminal: true, width: 100))
        let lines = run.output.split(separator: "\n", omittingEmptySubsequences: false)
        let headings = ["NAME", "HOST-META", "ENDPOINT", "SHOWN AT", "OFFERED", "TRIED", "XEP-0479", "ADVICE"]
        for heading in headings {
            let index = lines.firstIndex { $0.hasPrefix(heading + " ") }
            #expect(index.map { $0 > 0 && lines[$0 - 1].isEmpty } == true, "\(heading)")
        }
        #expect(lines.allSatisfy { $0.count <= 100 })
    }
}
