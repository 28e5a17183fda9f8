// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import SocketIO
import XMPPTestSupport

/// A message bus of its own in a folder, with a notification service that notes what it is asked to show.
final class NotificationService: Sendable {
    /// What it was asked to show.
    struct Notification: Equatable, Sendable {
        var application: String
        var summary: String
        var body: String
    }

    let address: String
    private let folder: String
    private let daemon: ServerProcess
    private let shown = Locked<[Notification]>([])
    private let isOver = Locked(false)
    private let ended = DispatchSemaphore(value: 0)

    /// Whether what it takes is installed.
    static var isPossible: Bool {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/dbus-daemon")
            && dlopen("libsystemd.so.0", RTLD_NOW) != nil
    }

    /// - Parameter answers: Whether there is a service on the bus at all.
    init(answers: Bool = true) async throws {
        folder = FileManager.default.temporaryDirectory.path + "/bus-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        address = "unix:path=\(folder)/bus"
        let settings = """
            <busconfig><type>session</type><listen>\(address)</listen><auth>EXTERNAL</auth>
            <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow own="*"/><allow eavesdrop="true"/></policy></busconfig>
            """
        try settings.write(toFile: folder + "/bus.conf", atomically: true, encoding: .utf8)
        daemon = try ServerProcess(
            "/usr/bin/dbus-daemon", ["--config-file=\(folder)/bus.conf", "--nofork", "--print-address"],
            logFile: folder + "/bus.log")
        // It serves when it has said where.
        while daemon.isRunning, !daemon.logTail.contains("unix:") { await Pause.briefly() }
        guard answers else {
            ended.signal()
            return
        }
        let ready = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [self] in serve { ready.signal() } }
        await BlockingWork.run { ready.wait() }
    }

    /// What was shown so far.
    var notifications: [Notification] { shown.withLock { $0 } }

    /// Ends the service and the bus.
    func end() async {
        isOver.withLock { $0 = true }
        await BlockingWork.run { self.ended.wait() }
        await daemon.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func function<Function>(_ name: String, as type: Function.Type) -> Function {
        unsafeBitCast(dlsym(dlopen("libsystemd.so.0", RTLD_NOW), name), to: type)
    }

    private func serve(_ ready: () -> Void) {
        defer { ended.signal() }
        typealias Handle = OpaquePointer
        var made: Handle?
        _ = function("sd_bus_new", as: (@convention(c) (UnsafeMutablePointer<Handle?>) -> Int32).self)(&made)
        guard let bus = made else { return ready() }
        _ = function("sd_bus_set_address", as: (@convention(c) (Handle, UnsafePointer<CChar>) -> Int32).self)(
            bus, address)
        _ = function("sd_bus_set_bus_client", as: (@convention(c) (Handle, Int32) -> Int32).self)(bus, 1)
        _ = function("sd_bus_start", as: (@convention(c) (Handle) -> Int32).self)(bus)
        let name = "org.freedesktop.Notifications"
        _ = function("sd_bus_request_name", as: (@convention(c) (Handle, UnsafePointer<CChar>, UInt64) -> Int32).self)(
            bus, name, 0)
        ready()
        let process = function(
            "sd_bus_process", as: (@convention(c) (Handle, UnsafeMutablePointer<Handle?>) -> Int32).self)
        let wait = function("sd_bus_wait", as: (@convention(c) (Handle, UInt64) -> Int32).self)
        let isCall = function(
            "sd_bus_message_is_method_call",
            as: (@convention(c) (Handle, UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32).self)
        let unref = function("sd_bus_message_unref", as: (@convention(c) (Handle) -> Handle?).self)
        while !isOver.withLock({ $0 }) {
            var message: Handle?
            guard process(bus, &message) != 0 else {
                _ = wait(bus, 20_000)
                continue
            }
            guard let message else { continue }
            if isCall(message, name, "Notify") > 0 { answer(message, bus) }
            _ = unref(message)
        }
        _ = function("sd_bus_flush_close_unref", as: (@convention(c) (Handle) -> Handle?).self)(bus)
    }

    private func answer(_ message: OpaquePointer, _ bus: OpaquePointer) {
        let read = function(
            "sd_bus_message_read_basic",
            as: (@convention(c) (OpaquePointer, CChar, UnsafeMutableRawPointer) -> Int32).self)
        func text() -> String {
            var pointer: UnsafePointer<CChar>?
            _ = read(message, CChar(bitPattern: UInt8(ascii: "s")), &pointer)
            return pointer.map { String(cString: $0) } ?? ""
        }
        let application = text()
        var replaced: UInt32 = 0
        _ = read(message, CChar(bitPattern: UInt8(ascii: "u")), &replaced)
        _ = text()
        let notification = Notification(application: application, summary: text(), body: text())
        shown.withLock { $0.append(notification) }
        var made: OpaquePointer?
        _ = function(
            "sd_bus_message_new_method_return",
            as: (@convention(c) (OpaquePointer, UnsafeMutablePointer<OpaquePointer?>) -> Int32).self)(message, &made)
        guard let reply = made else { return }
        var number: UInt32 = 1
        _ = function(
            "sd_bus_message_append_basic", as: (@convention(c) (OpaquePointer, CChar, UnsafeRawPointer) -> Int32).self)(
                reply, CChar(bitPattern: UInt8(ascii: "u")), &number)
        _ = function(
            "sd_bus_send", as: (@convention(c) (OpaquePointer, OpaquePointer, UnsafeMutableRawPointer?) -> Int32).self)(
                bus, reply, nil)
        _ = function("sd_bus_message_unref", as: (@convention(c) (OpaquePointer) -> OpaquePointer?).self)(reply)
    }
}
