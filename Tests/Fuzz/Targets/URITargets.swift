// SPDX-License-Identifier: Apache-2.0

import SocketIO
import XMPPCore

@testable import XMPP
@testable import XMPPTransport

extension FuzzTarget {
    /// Any text as an `xmpp:` address: what is read is written so that it is read the same, in ASCII alone (RFC 5122
    /// §2.2), and an invitation is only what names who invites, or where to (XEP-0379, XEP-0401).
    static let uri = FuzzTarget(
        name: "uri",
        seeds: {
            [
                "xmpp:romeo@montague.net?roster;name=Romeo%20Montague;group=Friends",
                "xmpp:example.org?register;preauth=TOKEN", "xmpp:romeo@example.org?roster;preauth=T;ibr=y",
                "XMPP://guest@example.com/support@example.com?message", "xmpp://guest@example.com",
                "xmpp:nasty!%23$%25()*+,-.;=%3F%5B%5C%5D%5E_%60%7B%7C%7D~node@example.com/repulsive%20!%23%22",
                "xmpp:[::1]?join;password=%2e#part", "xmpp:b%C3%BCcher.example/a/b@c?;x=y;x;;z=",
            ].map { Array($0.utf8) }
        }
    ) { bytes in
        guard let text = String(validating: bytes, as: UTF8.self), let uri = XMPPURI(text) else { return }
        let written = uri.description
        try require(written.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x27 }, written)
        try require(XMPPURI(written) == uri, "\(written) is read otherwise")
        try require(XMPPURI(written)?.description.isIdentical(to: written) == true, "\(written) is written otherwise")
        try require(uri.account?.isBare != false && (uri.account != nil || uri.jid != nil), "\(uri)")
        try require(uri.parameters.count <= XMPPURI.maximumParameters, "\(uri.parameters.count) parameters")
        for parameter in uri.parameters {
            try require(!parameter.key.isEmpty, "a value without a key in \(written)")
            try require(
                uri[parameter.key] == uri.parameters.first { $0.key == parameter.key }?.value, "another value")
        }
        try require(uri.action?.rawValue.isEmpty != true, "an action without a name in \(written)")
        switch Invitation(uri) {
        case .contact(let jid, _, _, _)?: try require(jid.isBare && jid.localpart != nil, "invited by \(jid)")
        case .account(let domain, let username, _)?:
            try require(domain.isDomain && username?.isEmpty != true, "invited to \(domain)")
        case nil: break
        }
    }

    /// What a domain's web server may have as `host-meta`, in XML or in JSON: no place but inside of TLS, each within
    /// the limits (XEP-0156 §3, XEP-0487 §3).
    static let hostMeta = FuzzTarget(
        name: "host-meta",
        seeds: {
            [
                "<?xml version='1.0'?><!-- x --><XRD xmlns='http://docs.oasis-open.org/ns/xri/xrd-1.0'><Link "
                    + "rel='urn:xmpp:alt-connections:websocket' href='wss://example.org/ws'/><Link "
                    + "rel='urn:xmpp:alt-connections:xbosh' href='https://example.org/bosh'/></XRD>",
                #"{"xmpp":{"ttl":600,"public-key-pins-sha-256":["4/mggdlVx8A3pvHAWW5sD+qJyMtUHgiRuPjVC48N0XQ="]},"links":["#
                    + #"{"rel":"urn:xmpp:alt-connections:tls","port":443,"ips":["192.0.2.1","::1"],"priority":1,"weight":2,"#
                    + #""sni":"example.org"},{"rel":"urn:xmpp:alt-connections:websocket","href":"wss://a.example/ws","#
                    + #""ips":["192.0.2.1"],"priority":0,"weight":0,"sni":"a.example"}]}"#,
                #"{"links":[{"rel":"urn:xmpp:alt-connections:websocket","href":"wss://[::1]:5281/x"}]}"#,
            ].map { Array($0.utf8) }
        }
    ) { bytes in
        var generator = SeededGenerator(seed: 1)
        for file in ServerSurvey.Publication.File.allCases {
            let contents = WebDocument.Contents(bytes: bytes, mediaType: "text/plain")
            for isDelegating in [true, false] {
                let (found, targets) = ServerSurvey.Publication.read(
                    file, contents, isDelegating: isDelegating, using: &generator)
                try require([.found, .wrongType].contains(found.state), "\(found.state)")
                try require(found.state == .found || targets.isEmpty, "places of no file")
                try require(targets.count <= ConnectionPlanner.maximumTargets, "\(targets.count) places")
                try require(found.webSockets.allSatisfy { $0.utf8.starts(with: "wss://".utf8) }, "\(found.webSockets)")
                for target in targets {
                    try require(target.port != 0 && target.security != .startTLS, "\(target)")
                    try require((target.delegation != nil) == (isDelegating && found.lifetime != nil), "\(target)")
                    if target.delegation != nil {
                        try require(SocketAddress(literal: target.host, port: 1) != nil, "\(target) is no address")
                    }
                }
                try require(found.pinnedKeys.count <= HostMeta2.maximumKeys, "\(found.pinnedKeys.count) keys")
                try require((found.lifetime ?? .zero) <= HostMeta2.maximumLifetime, "\(found.lifetime as Any)")
                try require(!(found.reason ?? "").hasControls, "a reason that is not fit for a terminal")
            }
        }
    }
}
