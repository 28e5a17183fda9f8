// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import XMPPProtocol

extension FuzzTarget: CustomTestStringConvertible {
    var testDescription: String { name }
}

/// What the fuzz targets demand, without libFuzzer: on their seeds, on what once broke them, on a little noise.
@Suite(.timeLimit(.minutes(5)))
struct ReplayTests {
    private func check(_ input: [UInt8], _ target: FuzzTarget) {
        do {
            try target.check(input)
        } catch {
            Issue.record("\(error), for \(String(decoding: input, as: UTF8.self).debugDescription)")
        }
    }

    @Test("inputs that once broke a rule no longer do", arguments: FuzzTarget.all)
    func regressions(_ target: FuzzTarget) {
        for input in FuzzVectors.contents(of: FuzzVectors.regressions.appending(path: target.name)) {
            check(input, target)
        }
    }

    @Test("every rule holds for the vectors that fuzzing begins with", arguments: FuzzTarget.all)
    func seeds(_ target: FuzzTarget) {
        let seeds = target.seeds()
        #expect(!seeds.isEmpty, "the vectors were not found")
        for input in seeds { check(input, target) }
    }

    @Test("every rule holds for inputs with bytes cut out, doubled and changed", arguments: FuzzTarget.all)
    func noise(_ target: FuzzTarget) {
        var generator = SeededGenerator(seed: 1)
        let seeds = target.seeds()
        for _ in 0..<200 {
            guard var input = seeds.randomElement(using: &generator), !input.isEmpty else { continue }
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                guard let index = input.indices.randomElement(using: &generator) else { break }
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: input[index] = UInt8.random(in: 0...255, using: &generator)
                case 1: input[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                case 2: input.removeSubrange(index..<min(input.count, index + 5))
                default: input.insert(contentsOf: input[index..<min(input.count, index + 9)], at: index)
                }
            }
            check(input, target)
        }
    }

    @Test("what the router is fed with reaches it: stanzas are answered and told of, and change the roster")
    func routed() throws {
        var tally = RoutedTally()
        for stanza in FuzzTarget.stanzas {
            let one = try RoutedSession.route(Array(stanza.utf8))
            #expect(one.stanzas == (stanza.hasPrefix("<stream:") ? 0 : 1), "\(stanza)")
            tally.answers += one.answers
            tally.events += one.events
            tally.rosterChanges += one.rosterChanges
            tally.results += one.results
        }
        #expect(tally == RoutedTally(answers: 7, events: 9, rosterChanges: 1, results: 1))
        let many = FuzzTarget.stanzas.joined(separator: "\n\nnoise\n")
        #expect(try RoutedSession.route(Array(many.utf8)).stanzas == 8)
    }

    @Test(
        "a login with SCRAM is led through to its end, and to none without the server's proof (RFC 5802 §5)",
        arguments: [
            ("DThGyKYhHbn", true), ("ChfPBhGyKYhHbn", true), ("DThgyKYH", true), ("DThGyKshHbn", false),
            ("DThGyRYhHbn", false), ("DThGyYhHbn", false),
        ])
    func login(_ script: String, _ isEstablished: Bool) throws {
        var run = MachineRun()
        for letter in script.unicodeScalars { try run.step(letter) }
        #expect(run.machine.isEstablished == isEstablished)
    }

    @Test("the targets have names of their own, fit for files")
    func names() {
        #expect(Set(FuzzTarget.all.map(\.name)).count == FuzzTarget.all.count)
        for target in FuzzTarget.all {
            #expect(
                target.name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D })
            #expect(FuzzTarget.named(target.name)?.name == target.name)
        }
    }
}
