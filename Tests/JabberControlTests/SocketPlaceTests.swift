// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import SocketIO
import Testing

@testable import JabberControl

@Suite("The place of a control socket")
struct SocketPlaceTests {
    let folder: String
    let place: SocketPlace

    init() {
        folder = FileManager.default.temporaryDirectory.path + "/place-\(UUID().uuidString.prefix(8))"
        place = SocketPlace(folder + "/run/control.sock")
    }

    /// A socket at the place, as a daemon makes it.
    private func listen() throws -> Int32 {
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let address = try #require(SocketAddress(unixPath: place.path))
        #expect(address.withSockaddr { bind(number, $0, $1) } == 0)
        #expect(Glibc.listen(number, 1) == 0)
        return number
    }

    @Test("The folder is made for the user alone, and only one holds the lock")
    func lock() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(!place.isTaken)
        let lock = try place.take()
        #expect(place.isTaken)
        let mode = try FileManager.default.attributesOfItem(atPath: folder + "/run")[.posixPermissions] as? Int
        #expect(mode == 0o700)
        let error = #expect(throws: ControlError.self) { try place.take() }
        #expect(error?.code == .temporary)
        withExtendedLifetime(lock) {}
    }

    @Test("A socket that nobody serves is removed; one that somebody serves is not")
    func stale() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        _ = try place.take()
        let number = try listen()
        #expect(place.answers)
        let error = #expect(throws: ControlError.self) { try place.take() }
        #expect(error?.message.contains("listens") == true)
        #expect(FileManager.default.fileExists(atPath: place.path))
        close(number)
        #expect(!place.answers)
        _ = try place.take()
        #expect(!FileManager.default.fileExists(atPath: place.path))
    }

    @Test("It is known which process holds the lock, and which one listens")
    func who() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(place.holder == nil && place.listener == nil && !place.isTaken(by: getpid()))
        let lock = try place.take()
        #expect(place.holder == getpid())
        #expect(place.isTaken(by: nil) && place.isTaken(by: getpid()) && !place.isTaken(by: getpid() + 1))
        let number = try listen()
        #expect(place.listener == getpid())
        close(number)
        #expect(place.listener == nil)
        // One that has the lock and has not said who it is yet.
        try Data().write(to: URL(filePath: place.path + ".lock"))
        #expect(place.holder == nil && place.isTaken(by: getpid()))
        withExtendedLifetime(lock) {}
    }

    @Test("Who is there is told by what it says first: a daemon, one that ends, one that hangs, or nobody")
    func ask() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(place.ask(within: .seconds(5)) == .nobody)
        _ = try place.take()
        let number = try listen()
        #expect(place.ask(within: .milliseconds(50)) == .nothing)
        // The connection of that question waits still.
        close(accept(number, nil, nil))
        func answer(_ message: ControlMessage?) throws -> SocketPlace.Answer {
            let line = try message.map { try ControlFrame.encode($0) } ?? []
            Thread.detachNewThread {
                let client = accept(number, nil, nil)
                _ = line.withUnsafeBytes { write(client, $0.baseAddress, $0.count) }
                close(client)
            }
            return place.ask(within: .seconds(20))
        }
        #expect(try answer(.notification(ControlGreeting(instance: "x").notification)) == .serves)
        #expect(try answer(.notification(.goodbye(ControlError(.busy, "full")))) == .serves)
        #expect(try answer(.notification(.goodbye(ControlError(.daemonEnding, "ends")))) == .ends)
        // As one that is killed at this moment.
        #expect(try answer(nil) == .nobody)
        close(number)
    }

    @Test("What is no socket is never removed")
    func other() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        _ = try place.take()
        try Data("mine".utf8).write(to: URL(filePath: place.path))
        let error = #expect(throws: ControlError.self) { try place.take() }
        #expect(error?.code == .inputOutput)
        #expect(try String(contentsOfFile: place.path, encoding: .utf8) == "mine")
    }

    @Test("A folder that others may look into is refused, with the command that mends it")
    func openFolder() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try PrivateFile.makeFolder(folder + "/run")
        chmod(folder + "/run", 0o755)
        let error = #expect(throws: ControlError.self) { try place.take() }
        #expect(error?.code == .permissions)
        #expect(error?.message.contains("chmod 700") == true)
    }

    @Test("A folder that is a link, or somebody else's, is refused")
    func foreignFolder() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try PrivateFile.makeFolder(folder + "/elsewhere")
        #expect(symlink(folder + "/elsewhere", folder + "/run") == 0)
        #expect(#expect(throws: ControlError.self) { try place.take() }?.code == .permissions)
        unlink(folder + "/run")
        guard geteuid() == 0 else { return }
        try PrivateFile.makeFolder(folder + "/run")
        chown(folder + "/run", 65_534, 65_534)
        #expect(#expect(throws: ControlError.self) { try place.take() }?.code == .permissions)
    }

    @Test(
        "A path that no socket can have is refused",
        arguments: ["control.sock", "/" + String(repeating: "x", count: 107)])
    func path(_ path: String) {
        #expect(throws: ControlError.self) { try SocketPlace(path).take() }
    }
}
