// SPDX-License-Identifier: Apache-2.0

import Foundation
import SocketIO
import Testing
import XMPPTestSupport

/// The unit files in `systemd`, as `make install` writes them.
@Suite("Units for systemd")
struct UnitFileTests {
    private static let program = "/usr/bin/systemd-analyze"

    /// How much a service may be exposed at most, in tenths of systemd's figure: 66. It counts what only the units of
    /// the system can give up, such as capabilities and devices; a user's service has none of these.
    private static let maximumExposure = 66

    /// Runs systemd-analyze on units of a user.
    private static func analyze(_ words: [String], _ folder: TemporaryFolder) async throws -> FinishedProgram {
        try await FinishedProgram.run(
            [program, "--user"] + words,
            environment: ["PATH": "/usr/bin:/bin", "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path])
    }

    /// Writes the units into a folder.
    private static func write(into folder: TemporaryFolder) throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../systemd").standardized
        for name in ["jabberctld.service", "jabberctld.socket"] {
            let text = try String(contentsOf: sources.appending(path: name), encoding: .utf8)
            // As Scripts/install has it for systemd before 253, which is the least that there is.
            try folder.write(
                text.replacing("@libexec@/jabberctld", with: OwnProgram.neighbour("jabberctld"))
                    .replacing("Type=notify-reload", with: "Type=notify"), to: name)
        }
    }

    @Test(
        "systemd understands both, and the daemon gives up what a user's service can (systemd-analyze)",
        .enabled(if: FileManager.default.isExecutableFile(atPath: program), "systemd-analyze is not here"))
    func units() async throws {
        let folder = try TemporaryFolder(prefix: "units")
        try Self.write(into: folder)
        let service = folder.file("jabberctld.service")
        let verified = try await Self.analyze(
            ["--man=no", "verify", service, folder.file("jabberctld.socket")], folder)
        #expect(verified.code == 0 && verified.errors.isEmpty, "\(verified)")
        let security = try await Self.analyze(
            ["security", "--offline=true", "--no-pager", "--threshold=\(Self.maximumExposure)", service], folder)
        #expect(security.code == 0, "\(security)")
        #expect(security.output.contains("Overall exposure level"), "\(security)")
    }
}
