// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The user's message bus by libsystemd's sd-bus, which is loaded when it is needed first: a daemon without
/// notifications neither needs the library nor spends the time.
///
/// Not `Sendable`: whoever has it uses it from one queue.
final class SessionBus {
    /// How long a program on the bus may take to answer; 2 seconds, in microseconds.
    static let maximumWait: UInt64 = 2_000_000

    private let library: Library
    private let bus: OpaquePointer

    /// Connects to a bus (sd_bus_new, sd_bus_set_address, sd_bus_start).
    ///
    /// - Returns: `nil` when there is none at the address.
    init?(_ library: Library, at address: String) {
        var bus: OpaquePointer?
        guard library.new(&bus) >= 0, let bus else { return nil }
        self.library = library
        self.bus = bus
        guard library.setAddress(bus, address) >= 0, library.setClient(bus, 1) >= 0, library.start(bus) >= 0 else {
            return nil
        }
    }

    deinit {
        _ = library.close(bus)
    }

    /// Calls `Notify` of `org.freedesktop.Notifications` (Desktop Notifications Specification 1.2, 9.).
    ///
    /// - Parameters:
    ///   - summary: Plain text, one line.
    ///   - body: Text with the markup of the specification.
    /// - Returns: Whether a notification service has taken it.
    func notify(summary: String, body: String) -> Bool {
        var message: OpaquePointer?
        let name = "org.freedesktop.Notifications"
        guard library.newCall(bus, &message, name, "/org/freedesktop/Notifications", name, "Notify") >= 0, let message
        else { return false }
        defer { _ = library.unref(message) }
        var (replaced, timeout) = (UInt32(0), Int32(-1))
        let isComplete =
            append("jabberctl", to: message) && library.append(message, Self.u, &replaced) >= 0
            && append("", to: message) && append(summary, to: message) && append(body, to: message)
            && library.open(message, Self.array, "s") >= 0 && library.closeContainer(message) >= 0
            && hints(of: message)
            && library.append(message, Self.i, &timeout) >= 0
        guard isComplete else { return false }
        return library.call(bus, message, Self.maximumWait, nil, nil) >= 0
    }

    /// `category`: a server may show messages of people in a way of their own.
    private func hints(of message: OpaquePointer) -> Bool {
        library.open(message, Self.array, "{sv}") >= 0 && library.open(message, Self.entry, "sv") >= 0
            && append("category", to: message) && library.open(message, Self.variant, "s") >= 0
            && append("im.received", to: message) && library.closeContainer(message) >= 0
            && library.closeContainer(message) >= 0 && library.closeContainer(message) >= 0
    }

    private func append(_ text: String, to message: OpaquePointer) -> Bool {
        text.withCString { library.append(message, Self.s, $0) >= 0 }
    }

    // The types of the D-Bus specification, "Type system".
    private static let s = CChar(bitPattern: UInt8(ascii: "s"))
    private static let u = CChar(bitPattern: UInt8(ascii: "u"))
    private static let i = CChar(bitPattern: UInt8(ascii: "i"))
    private static let array = CChar(bitPattern: UInt8(ascii: "a"))
    private static let entry = CChar(bitPattern: UInt8(ascii: "e"))
    private static let variant = CChar(bitPattern: UInt8(ascii: "v"))
}

extension SessionBus {
    /// The functions of libsystemd that are called, by their names in sd-bus(3).
    struct Library: Sendable {
        typealias Bus = OpaquePointer
        typealias Message = OpaquePointer

        let new: @convention(c) (UnsafeMutablePointer<Bus?>) -> Int32
        let setAddress: @convention(c) (Bus, UnsafePointer<CChar>) -> Int32
        let setClient: @convention(c) (Bus, Int32) -> Int32
        let start: @convention(c) (Bus) -> Int32
        let close: @convention(c) (Bus) -> Bus?
        let newCall:
            @convention(c) (
                Bus, UnsafeMutablePointer<Message?>, UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<CChar>,
                UnsafePointer<CChar>
            ) -> Int32
        let append: @convention(c) (Message, CChar, UnsafeRawPointer) -> Int32
        let open: @convention(c) (Message, CChar, UnsafePointer<CChar>) -> Int32
        let closeContainer: @convention(c) (Message) -> Int32
        let call: @convention(c) (Bus, Message, UInt64, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Int32
        let unref: @convention(c) (Message) -> Message?

        /// Loads the library (dlopen); it stays loaded.
        ///
        /// - Returns: `nil` when it is not installed.
        init?() {
            guard let handle = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL),
                let new = dlsym(handle, "sd_bus_new"), let setAddress = dlsym(handle, "sd_bus_set_address"),
                let setClient = dlsym(handle, "sd_bus_set_bus_client"), let start = dlsym(handle, "sd_bus_start"),
                let close = dlsym(handle, "sd_bus_flush_close_unref"),
                let newCall = dlsym(handle, "sd_bus_message_new_method_call"),
                let append = dlsym(handle, "sd_bus_message_append_basic"),
                let open = dlsym(handle, "sd_bus_message_open_container"),
                let closeContainer = dlsym(handle, "sd_bus_message_close_container"),
                let call = dlsym(handle, "sd_bus_call"), let unref = dlsym(handle, "sd_bus_message_unref")
            else { return nil }
            // Their types are those of sd-bus.h, whose interface libsystemd.so.0 keeps.
            self.new = unsafeBitCast(new, to: (@convention(c) (UnsafeMutablePointer<Bus?>) -> Int32).self)
            self.setAddress = unsafeBitCast(
                setAddress, to: (@convention(c) (Bus, UnsafePointer<CChar>) -> Int32).self)
            self.setClient = unsafeBitCast(setClient, to: (@convention(c) (Bus, Int32) -> Int32).self)
            self.start = unsafeBitCast(start, to: (@convention(c) (Bus) -> Int32).self)
            self.close = unsafeBitCast(close, to: (@convention(c) (Bus) -> Bus?).self)
            self.newCall = unsafeBitCast(
                newCall,
                to: (@convention(c) (
                    Bus, UnsafeMutablePointer<Message?>, UnsafePointer<CChar>, UnsafePointer<CChar>,
                    UnsafePointer<CChar>, UnsafePointer<CChar>
                ) -> Int32).self)
            self.append = unsafeBitCast(
                append, to: (@convention(c) (Message, CChar, UnsafeRawPointer) -> Int32).self)
            self.open = unsafeBitCast(
                open, to: (@convention(c) (Message, CChar, UnsafePointer<CChar>) -> Int32).self)
            self.closeContainer = unsafeBitCast(closeContainer, to: (@convention(c) (Message) -> Int32).self)
            self.call = unsafeBitCast(
                call,
                to: (@convention(c) (Bus, Message, UInt64, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Int32)
                    .self)
            self.unref = unsafeBitCast(unref, to: (@convention(c) (Message) -> Message?).self)
        }
    }
}
