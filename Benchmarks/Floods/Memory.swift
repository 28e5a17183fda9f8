// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Memory and time of this process.
enum Memory {
    /// A number of `/proc/PROCESS/status`, in KiB where it is a size.
    static func read(_ key: String, of process: String = "self") -> Int {
        guard let file = fopen("/proc/\(process)/status", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let words = text.split { $0 == " " || $0 == "\t" || $0 == "\n" }
            if words.count >= 2, words[0] == key + ":", let number = Int(words[1]) { return number }
        }
        return 0
    }

    /// Lets the peak begin anew at what is resident now.
    static func resetPeak() {
        guard let file = fopen("/proc/self/clear_refs", "w") else { return }
        fputs("5", file)
        fclose(file)
    }

    /// How many descriptors this process has open.
    static func descriptors() -> Int {
        guard let folder = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        return count
    }

    /// The monotonic clock in milliseconds.
    static func milliseconds() -> Double { read(CLOCK_MONOTONIC) }

    /// The time that this process has had a processor for, in milliseconds: what else the machine does takes no part in
    /// it.
    static func processorMilliseconds() -> Double { read(CLOCK_PROCESS_CPUTIME_ID) }

    private static func read(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
    }
}
