// SPDX-License-Identifier: Apache-2.0

internal import CLibEdit
internal import Glibc
internal import JabberControl

/// The functions of libedit, which is loaded when a line is to be edited: every other command starts without it.
///
/// `@unchecked Sendable`: addresses of functions, which never change.
struct EditLibrary: @unchecked Sendable {
    typealias Editor = OpaquePointer
    typealias File = UnsafeMutablePointer<FILE>

    let make: @convention(c) (UnsafePointer<CChar>, File, File, File) -> Editor?
    let end: @convention(c) (Editor) -> Void
    let gets: @convention(c) (Editor, UnsafeMutablePointer<Int32>) -> UnsafePointer<CChar>?
    let line: @convention(c) (Editor) -> UnsafePointer<LineInfo>?
    let insert: @convention(c) (Editor, UnsafePointer<CChar>) -> Int32
    let delete: @convention(c) (Editor, Int32) -> Void
    let resize: @convention(c) (Editor) -> Void
    let readSettings: @convention(c) (Editor, UnsafePointer<CChar>?) -> Int32
    let makeHistory: @convention(c) () -> OpaquePointer?
    let endHistory: @convention(c) (OpaquePointer) -> Void
    /// `el_set`, `el_get` and `history`, for the functions of CLibEdit.
    let set: UnsafeMutableRawPointer
    let get: UnsafeMutableRawPointer
    let history: UnsafeMutableRawPointer

    /// The library, loaded when it is asked for first; `nil` when it is not installed.
    static let loaded = try? EditLibrary()

    private init() throws(ControlError) {
        guard let handle = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL) else { throw Self.missing }
        func find(_ name: String) throws(ControlError) -> UnsafeMutableRawPointer {
            guard let address = dlsym(handle, name) else { throw Self.missing }
            return address
        }
        // Their types are those of histedit.h, whose interface libedit.so.2 keeps.
        make = unsafeBitCast(
            try find("el_init"), to: (@convention(c) (UnsafePointer<CChar>, File, File, File) -> Editor?).self)
        end = unsafeBitCast(try find("el_end"), to: (@convention(c) (Editor) -> Void).self)
        gets = unsafeBitCast(
            try find("el_gets"),
            to: (@convention(c) (Editor, UnsafeMutablePointer<Int32>) -> UnsafePointer<CChar>?).self)
        line = unsafeBitCast(
            try find("el_line"), to: (@convention(c) (Editor) -> UnsafePointer<LineInfo>?).self)
        insert = unsafeBitCast(
            try find("el_insertstr"), to: (@convention(c) (Editor, UnsafePointer<CChar>) -> Int32).self)
        delete = unsafeBitCast(try find("el_deletestr"), to: (@convention(c) (Editor, Int32) -> Void).self)
        resize = unsafeBitCast(try find("el_resize"), to: (@convention(c) (Editor) -> Void).self)
        readSettings = unsafeBitCast(
            try find("el_source"), to: (@convention(c) (Editor, UnsafePointer<CChar>?) -> Int32).self)
        makeHistory = unsafeBitCast(try find("history_init"), to: (@convention(c) () -> OpaquePointer?).self)
        endHistory = unsafeBitCast(try find("history_end"), to: (@convention(c) (OpaquePointer) -> Void).self)
        set = try find("el_set")
        get = try find("el_get")
        history = try find("history")
    }

    /// What to do about that.
    static let missing = ControlError(
        .internalError, "lines cannot be edited: libedit is not installed (on Debian: apt install libedit2)")
}
