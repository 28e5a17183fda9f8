// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What the process has used so far.
struct Usage {
    private var seconds = 0.0
    private var user = 0.0
    private var system = 0.0
    private var residentKB = 0
    private var peakKB = 0

    /// The present figures: processor time by getrusage, memory by `/proc/self/status`, whose peak begins with this
    /// process.
    static func now() -> Usage {
        var usage = Usage()
        var resources = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &resources)
        usage.user = Double(resources.ru_utime.tv_sec) + Double(resources.ru_utime.tv_usec) / 1e6
        usage.system = Double(resources.ru_stime.tv_sec) + Double(resources.ru_stime.tv_usec) / 1e6
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        usage.seconds = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        usage.readMemory()
        return usage
    }

    private mutating func readMemory() {
        guard let file = fopen("/proc/self/status", "r") else { return }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let words = text.split { $0 == " " || $0 == "\t" || $0 == "\n" }
            guard words.count >= 2, let number = Int(words[1]) else { continue }
            if words[0] == "VmRSS:" { residentKB = number }
            if words[0] == "VmHWM:" { peakKB = number }
        }
    }

    /// Prints one line of JSON.
    func report(since start: Usage, count: Int, bodyBytes: Int) {
        print(
            "{\"count\": \(count), \"body_bytes\": \(bodyBytes), \"seconds\": \(seconds - start.seconds), "
                + "\"cpu_user\": \(user - start.user), \"cpu_sys\": \(system - start.system), "
                + "\"maxrss_kb\": \(peakKB), \"rss_growth_kb\": \(residentKB - start.residentKB)}")
    }
}
