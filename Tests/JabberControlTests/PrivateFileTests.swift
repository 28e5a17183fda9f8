// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing

@testable import JabberControl

@Suite("Files and children that keep a secret")
struct PrivateFileTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test(
        "what is no plain file is not read: it might never end, or do something",
        arguments: ["fifo", "folder", "device"])
    func kinds(_ kind: String) throws {
        let path = folder.path + "/" + kind
        switch kind {
        case "fifo": #expect(mkfifo(path, 0o600) == 0)
        case "folder": #expect(mkdir(path, 0o700) == 0)
        default: #expect(symlink("/dev/zero", path) == 0)
        }
        let error = #expect(throws: ControlError.self) { _ = try PrivateFile.read(path) }
        #expect(error?.message.contains("is not a plain file") == true, "\(error as Any)")
    }

    @Test("folders are made for the user alone, however many are missing")
    func folders() throws {
        let old = umask(0)
        defer { umask(old) }
        try PrivateFile.makeFolder(folder.path + "/a/b/c")
        try PrivateFile.makeFolder(folder.path + "/d")
        for name in ["a", "a/b", "a/b/c", "d"] { #expect(try folder.mode(of: name) == 0o700, "\(name)") }
    }

    @Test("files are the user's alone from the first moment on")
    func files() throws {
        let old = umask(0)
        defer { umask(old) }
        try PrivateFile.write([1], to: folder.path + "/new/file")
        #expect(try folder.mode(of: "new/file") == 0o600)
        #expect(try folder.mode(of: "new") == 0o700)
    }

    @Test("a password has 64 KiB at most")
    func length() throws {
        let most = [UInt8](repeating: 0x78, count: PasswordSource.maximumBytes)
        #expect(try PasswordSource.firstLine(most, of: "the test").utf8.count == most.count)
        let error = #expect(throws: ControlError.self) { try PasswordSource.firstLine(most + [0x78], of: "the test") }
        #expect(error?.code == .configuration)
    }

    @Test("every byte is a password's own, but for the end of the line; what is not UTF-8 is refused")
    func everyByte() throws {
        for byte in UInt8.min...UInt8.max {
            let line = [0x61, byte, 0x62]
            switch byte {
            case 0x0A: #expect(try PasswordSource.firstLine(line, of: "the test") == "a")
            case 0x80...: #expect(throws: ControlError.self) { try PasswordSource.firstLine(line, of: "the test") }
            default: #expect(try Array(PasswordSource.firstLine(line, of: "the test").utf8) == line)
            }
        }
        #expect(try PasswordSource.firstLine(Array(" a \r\n".utf8), of: "the test") == " a ")
        #expect(throws: ControlError.self) { try PasswordSource.firstLine(Array("\r\n".utf8), of: "the test") }
    }

    @Test("a child gets the descriptors that it is meant to have, and no other")
    func descriptors() throws {
        // Not marked to be closed, as a careless parent leaves them.
        let stray = open("/dev/null", O_RDONLY)
        defer { close(stray) }
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        let child = try ChildProcess(
            ["/bin/ls", "/proc/self/fd"], environment: [:], descriptors: [(0, 0), (ends[1], 1), (2, 2)])
        close(ends[1])
        let listing = try FileDescriptor(ends[0]).readAll(limit: 4_096, name: "the pipe")
        close(ends[0])
        #expect(child.wait() == 0)
        // The fourth is the folder that it reads.
        #expect(String(decoding: listing, as: UTF8.self) == "0\n1\n2\n3\n")
    }
}
