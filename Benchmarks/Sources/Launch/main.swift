// SPDX-License-Identifier: Apache-2.0

// Launch ROUNDS PROGRAM [ARGUMENT…] [-- PROGRAM [ARGUMENT…]]…
//
// Starts the programs in turn, ROUNDS times, and prints for each how long it took from start to exit: median, least,
// and the ratio of its median to the first program's.

internal import Glibc

/// One program with its arguments and the times it took, in microseconds.
struct Contender {
    let words: [String]
    var times: [Int] = []

    var median: Int { times.sorted()[times.count / 2] }
}

/// Runs a program with its output thrown away and returns the microseconds it took; `nil` when it failed.
func run(_ words: [String]) -> Int? {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    let clock = ContinuousClock()
    let began = clock.now
    var child: pid_t = 0
    guard posix_spawn(&child, words[0], &actions, nil, &arguments, environ) == 0 else { return nil }
    var status: Int32 = 0
    guard waitpid(child, &status, 0) == child, status == 0 else { return nil }
    let parts = (clock.now - began).components
    return Int(parts.seconds) * 1_000_000 + Int(parts.attoseconds / 1_000_000_000_000)
}

let words = Array(CommandLine.arguments.dropFirst())
guard let rounds = words.first.flatMap({ Int($0) }), rounds > 0 else {
    print("usage: Launch ROUNDS PROGRAM [ARGUMENT…] [-- PROGRAM [ARGUMENT…]]…")
    exit(64)
}
var contenders = words.dropFirst().split(separator: "--").map { Contender(words: Array($0)) }
for _ in 0..<rounds {
    for index in contenders.indices {
        guard let time = run(contenders[index].words) else {
            print("\(contenders[index].words[0]) failed")
            exit(70)
        }
        contenders[index].times.append(time)
    }
}
for contender in contenders {
    let ratio = Double(contender.median) / Double(contenders[0].median)
    let least = contender.times.min() ?? 0
    print(
        "\(contender.words.joined(separator: " ")): median \(contender.median) µs, least \(least) µs, ratio \((ratio * 100).rounded() / 100)"
    )
}
