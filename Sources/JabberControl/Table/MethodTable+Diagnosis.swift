// SPDX-License-Identifier: Apache-2.0

extension MethodTable {
    /// `diag`.
    static var diag: CommandSpec {
        var command = CommandSpec("diag", .tools, "examine a server, and the way to it, step by step")
        command.details = [
            "Shows what DNS says and whether it is signed, what the domain publishes over HTTPS (host-meta), every address of every "
                + "place: how long it takes to connect, TLS, certificates and whether they prove the domain, by authorities, by "
                + "signed TLSA records or by a pinned key; the mechanisms, channel bindings and features offered; and what to do "
                + "about each fault. Of an account also the login, with its round trips, and what the server has of the "
                + "Compliance Suites 2023 (XEP-0479).",
            "With a domain nothing is sent beyond the question for what is offered, and no password is needed. Exit code 0 says "
                + "that a login would work, be some of the addresses out of order; any other is that of the login that fails.",
            "In a pipe nothing is wrapped, and each row begins with the name of its table: step, dns, published, endpoint, "
                + "certificate, offer, race, compliance or advice.",
        ]
        command.arguments = [
            ArgumentSpec("TARGET", optional: true, "a domain, or the name of an account; without it, the account")
        ]
        command.result =
            [
                api, FieldSpec("target", "string", "the domain"),
                FieldSpec("ok", "boolean", "whether a login works; of a domain, whether one could begin"),
                FieldSpec("steps", "array", "the way of the login, in the order in which its steps were taken"),
                FieldSpec("steps[].step", "string", "srv, connect, tls, certificate, stream, login, bind, ping"),
                FieldSpec("steps[].state", "string", "ok, failed or skipped"),
                FieldSpec("steps[].milliseconds", "number", "how long it took; absent when skipped"),
                FieldSpec("steps[].detail", "string", "what was found, for people"),
            ] + names + endpoints + [
                FieldSpec("race", "object", "which of the places the login took"),
                FieldSpec("race.places", "array", "in the order of the login"),
                FieldSpec("race.places[].endpoint", "string", "host and port, or the address of a WebSocket"),
                FieldSpec("race.places[].way", "string", "starttls, direct or websocket"),
                FieldSpec("race.places[].state", "string", "won, failed or untried"),
                FieldSpec("race.places[].reason", "string", "why it failed"),
                FieldSpec("race.winner", "object", "endpoint and way of the one that was taken, and why"),
            ] + security("") + [
                FieldSpec("features", "array of strings", "namespaces of what the server offers after the login"),
                FieldSpec(
                    "compliance", "array",
                    "of an account: each category of XEP-0479 (core, web, im, mobile, calls) at each level (core, advanced)"
                ),
                FieldSpec("compliance[].category", "string", "core, web, im, mobile or calls"),
                FieldSpec("compliance[].level", "string", "core or advanced"),
                FieldSpec("compliance[].finding", "string", "met, missing, or unseen where nothing of it can be seen"),
                FieldSpec("compliance[].missing", "array", "what is not there"),
                FieldSpec("compliance[].missing[].feature", "string", "what it is for"),
                FieldSpec("compliance[].missing[].specification", "string", "such as XEP-0280"),
                FieldSpec("compliance[].unseen", "array", "what a client cannot see"),
                FieldSpec("compliance[].unseen[].feature", "string", "what it is for"),
                FieldSpec("compliance[].unseen[].specification", "string", "such as XEP-0114"),
                FieldSpec("advice", "array", "what is wrong and what to do about it, the worst first"),
                FieldSpec("advice[].severity", "string", "fault, warning or hint"),
                FieldSpec("advice[].subject", "string", "what it is about"),
                FieldSpec("advice[].problem", "string", "what is wrong"),
                FieldSpec("advice[].remedy", "string", "what to do about it"),
                FieldSpec("error", "object", "why a login does not work: code, exit, message, retry"),
            ]
        command.recordKey = "steps"
        command.exits = [
            .timedOut, .hostNotFound, .unavailable, .temporary, .protocolFailure, .authenticationRefused,
        ]
        command.examples = ["jabberctl diag example.org", "jabberctl diag --json | jq '.advice[]'"]
        return command
    }

    private static var names: [FieldSpec] {
        [
            FieldSpec("dns", "object", "what name servers say; absent where nobody asks them"),
            FieldSpec("dns.verifies", "boolean", "whether this machine has the keys of the DNS root"),
            FieldSpec("dns.answers", "array", "each question and its answer"),
            FieldSpec("dns.answers[].name", "string", "what was asked about"),
            FieldSpec("dns.answers[].type", "string", "SRV, A, AAAA or TLSA"),
            FieldSpec("dns.answers[].validation", "string", "secure, insecure, bogus or failed"),
            FieldSpec("dns.answers[].records", "array of strings", "the records; empty when there are none"),
            FieldSpec("dns.answers[].reason", "string", "why it is bogus, or failed"),
            FieldSpec("dns.answers[].milliseconds", "number", "how long the answer took"),
        ] + published
    }

    private static var published: [FieldSpec] {
        func common(_ file: String) -> [FieldSpec] {
            [
                FieldSpec(
                    file + ".state", "string",
                    "found, absent, wrongType (something else is there), notHTTPS, wrongName (the certificate is made out to "
                        + "others), untrusted (it is refused for another reason), unreachable, or skipped where nobody asks"
                ),
                FieldSpec(file + ".reason", "string", "why there is nothing; of a file, what of it is not heeded"),
                FieldSpec(file + ".mediaType", "string", "what the web server says it is"),
                FieldSpec(file + ".webSockets", "array of strings", "addresses of WebSockets"),
                FieldSpec(file + ".bosh", "boolean", "whether it names a place for BOSH"),
            ]
        }
        return [FieldSpec("hostMeta2", "object", "what the domain publishes over HTTPS in host-meta.json (XEP-0487)")]
            + common("hostMeta2") + [
                FieldSpec(
                    "hostMeta2.ttl", "integer", "for how many seconds it may be relied on; absent without XEP-0487"),
                FieldSpec(
                    "hostMeta2.places", "array", "the places that it names, in the order in which a login tries them"),
                FieldSpec("hostMeta2.places[].endpoint", "string", "address and port, or the address of a WebSocket"),
                FieldSpec("hostMeta2.places[].way", "string", "direct or websocket"),
                FieldSpec("hostMeta2.places[].priority", "integer", "places of a lower number come first"),
                FieldSpec("hostMeta2.places[].name", "string", "the name that the certificate may be made out to"),
                FieldSpec("hostMeta2.pins", "array of strings", "SHA-256 of the keys that the servers may have"),
                FieldSpec("hostMeta", "object", "what the domain publishes over HTTPS in host-meta (XEP-0156)"),
            ] + common("hostMeta")
    }

    private static var endpoints: [FieldSpec] {
        [
            FieldSpec(
                "endpoints", "array", "what was found at each address, in the order in which a login tries the places"),
            FieldSpec("endpoints[].endpoint", "string", "host and port, or the address of a WebSocket"),
            FieldSpec("endpoints[].way", "string", "starttls, direct or websocket"),
            FieldSpec(
                "endpoints[].address", "string", "the address; absent when the name has none, or a proxy looks it up"),
            FieldSpec("endpoints[].ok", "boolean", "whether a login could begin there"),
            FieldSpec("endpoints[].connectMilliseconds", "number", "until the connection was open"),
            FieldSpec("endpoints[].tlsMilliseconds", "number", "from there until it was secured"),
            FieldSpec("endpoints[].featuresMilliseconds", "number", "from there until features were offered"),
            FieldSpec("endpoints[].version", "string", "version of TLS"),
            FieldSpec("endpoints[].cipher", "string", "cipher suite"),
            FieldSpec("endpoints[].alpn", "string", "application protocol that was agreed on"),
            FieldSpec("endpoints[].name", "string", "name of the certificate that proves the domain"),
            FieldSpec("endpoints[].proofs", "array", "how the server has proven itself, or why not"),
            FieldSpec("endpoints[].proofs[].kind", "string", "pkix, dane or pin"),
            FieldSpec("endpoints[].proofs[].ok", "boolean", "whether it has"),
            FieldSpec(
                "endpoints[].proofs[].fault", "string",
                "what is wrong: name, expired, notYetValid, selfSigned, issuer, key, revoked or other"),
            FieldSpec("endpoints[].proofs[].reason", "string", "the same for people"),
            FieldSpec("endpoints[].chain", "array", "the certificates shown, the server's own first"),
            FieldSpec("endpoints[].chain[].subject", "string", "whose it is"),
            FieldSpec("endpoints[].chain[].issuer", "string", "who issued it"),
            FieldSpec("endpoints[].chain[].notBefore", "time", "begin of its validity"),
            FieldSpec("endpoints[].chain[].notAfter", "time", "end of its validity"),
            FieldSpec("endpoints[].chain[].names", "array of strings", "the names it is made out to"),
            FieldSpec("endpoints[].chain[].fingerprint", "string", "SHA-256 of it"),
            FieldSpec("endpoints[].chain[].key", "string", "SHA-256 of its key"),
            FieldSpec("endpoints[].mechanisms", "array of strings", "mechanisms offered (RFC 6120)"),
            FieldSpec("endpoints[].channelBindings", "array of strings", "channel bindings offered (XEP-0440)"),
            FieldSpec("endpoints[].sasl2", "array of strings", "mechanisms of SASL2 (XEP-0388), where that is offered"),
            FieldSpec(
                "endpoints[].bind2", "array of strings", "what goes with Bind 2 (XEP-0386), where that is offered"),
            FieldSpec("endpoints[].fast", "array of strings", "mechanisms of tokens (XEP-0484)"),
            FieldSpec("endpoints[].features", "array of strings", "namespaces of all that is offered before the login"),
            FieldSpec("endpoints[].redirection", "string", "where the server sends logins on to"),
            FieldSpec(
                "endpoints[].privateAddress", "boolean", "true where a name leads to an address of a private network"),
            FieldSpec("endpoints[].error", "object", "why a login would fail there: code, exit, message, retry"),
            FieldSpec("omittedEndpoints", "integer", "how many addresses were not looked at, where there are too many"),
        ]
    }
}
