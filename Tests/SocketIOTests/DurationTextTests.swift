// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing

@Suite("Durations for people")
struct DurationTextTests {
    @Test(
        "a duration is told in the one unit that says enough",
        arguments: [
            (.zero, "0 ms"), (.milliseconds(-5), "0 ms"), (.microseconds(49_600), "50 ms"),
            (.milliseconds(94), "94 ms"),
            (.milliseconds(95), "0.1 s"), (.milliseconds(500), "0.5 s"), (.seconds(2.649721087), "2.6 s"),
            (.seconds(2), "2 s"),
            (.seconds(9.94), "9.9 s"), (.seconds(9.96), "10 s"), (.seconds(45.4), "45 s"), (.seconds(119), "119 s"),
            (.seconds(120), "2 min"), (.seconds(3_600), "60 min"), (.seconds(7_200), "2 h"), (.seconds(86_400), "24 h"),
            (.seconds(172_800), "2 days"), (.seconds(Int64.max), "11574074 days"),
        ] as [(Duration, String)])
    func spoken(duration: Duration, text: String) {
        #expect(duration.spoken == text)
    }
}
