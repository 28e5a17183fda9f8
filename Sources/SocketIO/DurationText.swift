// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// This duration as people say it: `50 ms`, `2.6 s`, `45 s`, `3 min`, `5 h`, `4 days`. Rounded; a negative one
    /// counts as none.
    package var spoken: String {
        let seconds = max(0, inSeconds)
        let tenths = (seconds * 10).rounded()
        let minutes = (seconds / 60).rounded()
        let hours = (seconds / 3_600).rounded()
        return switch seconds {
        case ..<0.095: "\(Int((seconds * 1_000).rounded())) ms"
        case ..<9.95: tenths.truncatingRemainder(dividingBy: 10) == 0 ? "\(Int(tenths / 10)) s" : "\(tenths / 10) s"
        case ..<119.5: "\(Int(seconds.rounded())) s"
        case ..<7_170: "\(Int(minutes)) min"
        case ..<171_000: "\(Int(hours)) h"
        default: "\(Int((min(seconds, 1e12) / 86_400).rounded())) days"
        }
    }
}
