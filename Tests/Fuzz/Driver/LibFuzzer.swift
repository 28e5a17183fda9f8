// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The target that this program was started for: it is started under a name of its own for each.
private let target: FuzzTarget = {
    let path = CommandLine.arguments.first ?? ""
    let name = path.split(separator: "/").last ?? ""
    if name == "random-trees" { compareTrees() }
    guard let target = FuzzTarget.named(name) else {
        print(FuzzTarget.all.map(\.name).joined(separator: "\n"))
        exit(name == "fuzz" ? 0 : 64)
    }
    return target
}()

/// Not a target of libFuzzer: holds `FUZZ_TREES` random trees against expat, and ends the program.
private func compareTrees() -> Never {
    let environment = ProcessInfo.processInfo.environment
    let count = environment["FUZZ_TREES"].flatMap { Int($0) } ?? 100_000
    let seed = environment["FUZZ_SEED"].flatMap { UInt64($0) } ?? UInt64(Date().timeIntervalSince1970)
    do {
        let report = try TreeComparison.run(trees: count, seed: seed)
        for disagreement in report.disagreements.prefix(10) { print(disagreement) }
        print(
            "\(report.trees) trees, \(report.disagreements.count) disagreements; spoilt, \(report.spoiltAndRead) were read",
            "and \(report.spoiltAndRefused) refused by both, \(report.excepted) are excepted (seed \(seed))")
        exit(report.disagreements.isEmpty ? 0 : 1)
    } catch {
        print(error)
        exit(70)
    }
}

/// Called by libFuzzer before everything else: writes the seeds into the folder that `FUZZ_SEEDS` names, and `list`,
/// which tells their order.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(_ count: UnsafeMutableRawPointer?, _ arguments: UnsafeMutableRawPointer?) -> CInt {
    _ = target
    guard let folder = ProcessInfo.processInfo.environment["FUZZ_SEEDS"] else { return 0 }
    let regressions = FuzzVectors.contents(of: FuzzVectors.regressions.appending(path: target.name))
    var names: [String] = []
    for (index, seed) in (target.seeds() + regressions).enumerated() {
        names.append(write(Data(seed), to: "\(folder)/seed-\(index)"))
    }
    write(Data(names.joined(separator: ",").utf8), to: "\(folder)/list")
    return 0
}

@discardableResult
private func write(_ data: Data, to path: String) -> String {
    guard (try? data.write(to: URL(filePath: path))) != nil else {
        print("cannot write \(path)")
        exit(74)
    }
    return path
}

/// Called by libFuzzer with each input. A rule that does not hold is a crash.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
        try target.check(Array(UnsafeBufferPointer(start: data, count: count)))
    } catch {
        FileHandle.standardError.write(Data("\(target.name): broken rule: \(error)\n".utf8))
        abort()
    }
    return 0
}
