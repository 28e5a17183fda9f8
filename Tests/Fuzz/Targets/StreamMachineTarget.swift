// SPDX-License-Identifier: Apache-2.0

@testable import XMPPProtocol

extension FuzzTarget {
    /// A byte of options and a script of what happens to a stream: elements on lines of their own, everything else a
    /// letter each (``MachineRun``). No credentials outside of a protected channel, no faith in a server without proof,
    /// nothing behind an end, no end twice.
    static let streamMachine = FuzzTarget(
        name: "stream-machine",
        seeds: {
            let session = "ChfPThFsh\nHb"
            let scripts = [
                session, "\(session)nmkrwWAq\nx", "DThGc", "LhFsh\nHeb", "ChfPBhGia", "\(session)N3m5",
                "\(session)n23zI",
                "\(session)nww1A\n<presence/>\n<a xmlns='urn:xmpp:sm:3' h='4294967295'/>", "ChJ", "Chj", "ChfQ", "ChFs",
                "ChfPThFshH\n<iq type='result' id='a'/>", "\(session)q5", "\(session)E", "D0", "C0", "\(session)UuU4",
                "\(session)wp", "DThGyKYhHbn", "ChfPBhGyKYhHbnm", "DThgyKYHm", "DThGyR", "DThGyKs", "DThGyXKY",
                "DThGyyKKY",
            ]
            return scripts.flatMap { script in [UInt8(0), 1, 2, 4, 13].map { [$0] + script.utf8 } }
        }
    ) { bytes in
        var run = MachineRun(options: bytes.first ?? 0)
        for line in bytes.dropFirst().prefix(600).split(separator: 0x0A) {
            if line.first == UInt8(ascii: "<") {
                try run.receive(line)
            } else {
                for letter in line { try run.step(Unicode.Scalar(letter)) }
            }
        }
    }
}
