// SPDX-License-Identifier: Apache-2.0

import Foundation
import JabberControl
import XMPPTestSupport

/// Watches the system calls of a process with strace, until it ends; lets some of them fail.
struct Trace {
    /// Whether strace is there and may attach, as far as that is known before.
    static let isPossible = FileManager.default.isExecutableFile(atPath: "/usr/bin/strace") && geteuid() == 0

    private let process: ChildProcess
    private let traced: Int32

    /// Begins to watch.
    ///
    /// - Parameters:
    ///   - processID: The process, with all its threads.
    ///   - options: What to watch, and what to do with it (strace(1)).
    ///   - file: Where it is told; nowhere unless given.
    init(of processID: Int32, _ options: [String], to file: String = "/dev/null") throws {
        traced = processID
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        process = try ChildProcess(
            ["/usr/bin/strace", "-f", "-qq", "-o", file, "-p", String(processID)] + options,
            environment: [:], descriptors: [(null, 0), (null, 1), (null, 2)])
    }

    /// Waits until every thread is traced.
    ///
    /// - Returns: Whether it came to that.
    func isOn() async -> Bool {
        let threads = "/proc/\(traced)/task"
        do {
            try await Patience.wait(for: "strace", within: .seconds(10)) {
                let names = try FileManager.default.contentsOfDirectory(atPath: threads)
                return names.allSatisfy { name in
                    let status = (try? String(contentsOfFile: "\(threads)/\(name)/status", encoding: .utf8)) ?? ""
                    return !status.contains("TracerPid:\t0\n")
                }
            }
            return true
        } catch {
            return false
        }
    }

    /// Lets go of the process.
    func end() async {
        process.kill(SIGINT)
        let process = process
        _ = await BlockingWork.run { process.wait() }
    }
}
