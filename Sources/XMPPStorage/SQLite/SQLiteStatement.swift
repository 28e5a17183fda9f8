// SPDX-License-Identifier: Apache-2.0

internal import CSQLite

/// A prepared statement (`sqlite3_stmt`). Belongs to its connection's queue.
final class SQLiteStatement {
    private let handle: OpaquePointer

    /// Takes a statement over; it is finalised with this object.
    init(owning handle: OpaquePointer) {
        self.handle = handle
    }

    deinit {
        sqlite3_finalize(handle)
    }

    /// Sets the values of the parameters (`sqlite3_bind_…`).
    ///
    /// - Returns: The first code that is not `SQLITE_OK`.
    func bind(_ values: [SQLValue]) -> Int32 {
        for (offset, value) in values.enumerated() {
            let index = Int32(offset + 1)
            let code: Int32
            switch value {
            case .null: code = sqlite3_bind_null(handle, index)
            case .integer(let number): code = sqlite3_bind_int64(handle, index, number)
            case .text(var text):
                code = text.withUTF8 { utf8 in
                    utf8.withMemoryRebound(to: CChar.self) { chars in
                        guard let base = chars.baseAddress else { return shim_sqlite3_bind_text(handle, index, "", 0) }
                        return shim_sqlite3_bind_text(handle, index, base, Int32(clamping: chars.count))
                    }
                }
            case .bytes(let bytes):
                code =
                    bytes.isEmpty
                    ? sqlite3_bind_zeroblob(handle, index, 0)
                    : bytes.withUnsafeBytes {
                        shim_sqlite3_bind_blob(handle, index, $0.baseAddress, Int32(clamping: $0.count))
                    }
            }
            guard code == SQLITE_OK else { return code }
        }
        return SQLITE_OK
    }

    /// Goes on to the next row (`sqlite3_step`).
    func step() -> Int32 {
        sqlite3_step(handle)
    }

    /// Makes the statement ready to be used again, without values (`sqlite3_reset`, `sqlite3_clear_bindings`).
    func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    /// The present row; of use until the next ``step()``.
    var row: SQLRow { SQLRow(handle) }
}

/// A row of a result, to be read where it is handed out and not to be kept.
package struct SQLRow {
    private let handle: OpaquePointer

    init(_ handle: OpaquePointer) {
        self.handle = handle
    }

    /// The text in a column; `nil` where there is nothing (`sqlite3_column_text`).
    package func text(_ column: Int32) -> String? {
        guard sqlite3_column_type(handle, column) != SQLITE_NULL, let text = sqlite3_column_text(handle, column)
        else { return nil }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
    }

    /// The number in a column; 0 where there is nothing (`sqlite3_column_int64`).
    package func integer(_ column: Int32) -> Int64 {
        sqlite3_column_int64(handle, column)
    }

    /// The number in a column; `nil` where there is nothing.
    package func optionalInteger(_ column: Int32) -> Int64? {
        sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : integer(column)
    }

    /// The bytes in a column; empty where there is nothing (`sqlite3_column_blob`).
    package func bytes(_ column: Int32) -> [UInt8] {
        guard let bytes = sqlite3_column_blob(handle, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column))))
    }
}
