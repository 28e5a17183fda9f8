// SPDX-License-Identifier: Apache-2.0

/// The versions of a database's tables, and how to come from each to the next.
package struct Migrations: Sendable {
    /// What marks a file as one of these (`PRAGMA application_id`).
    package let applicationID: Int32
    /// The scripts, one for each version: the first makes version 1 of an empty file, the next makes 2 of 1.
    package let scripts: [String]

    /// Makes a list of versions.
    package init(applicationID: Int32, scripts: [String]) {
        self.applicationID = applicationID
        self.scripts = scripts
    }

    /// The version that this software writes.
    package var version: Int { scripts.count }

    /// Brings a file to the present version: each step is a transaction, so that one that is interrupted has not
    /// happened.
    ///
    /// - Throws: `StorageError`: ``StorageError/Code/foreign`` for a database of another program,
    ///   ``StorageError/Code/damaged`` for a version that nobody writes, ``StorageError/Code/newer`` for one that a
    ///   later version of this software has written, or what the disk says. The file is as it was then.
    package func run(on connection: SQLiteConnection) throws(StorageError) {
        let file = connection.file
        let mark = try connection.first("PRAGMA application_id") { $0.integer(0) } ?? 0
        let found = Int(try connection.first("PRAGMA user_version") { $0.integer(0) } ?? 0)
        if mark == Int64(applicationID), found < 0 {
            throw StorageError(.damaged, file: file, "\(file) is damaged: its tables are of version \(found)")
        }
        if mark != Int64(applicationID) {
            let tables = try connection.first("SELECT count(*) FROM sqlite_master") { $0.integer(0) } ?? 0
            guard mark == 0, found == 0, tables == 0 else {
                throw StorageError(
                    .foreign, file: file,
                    "\(file) is the database of another program; move it away, or give another place")
            }
        }
        guard found <= version else {
            throw StorageError(
                .newer, file: file,
                "\(file) was written by a later version (tables of version \(found), this one knows \(version)); "
                    + "install that again, or move the file away")
        }
        for (offset, script) in scripts.enumerated().dropFirst(found) {
            try connection.script("BEGIN IMMEDIATE")
            do throws(StorageError) {
                // Another process may have done it while this one waited for the lock.
                let present = try connection.first("PRAGMA user_version") { $0.integer(0) } ?? 0
                if present == Int64(offset) {
                    try connection.script(script)
                    try connection.script("PRAGMA application_id = \(applicationID)")
                    try connection.script("PRAGMA user_version = \(offset + 1)")
                }
                try connection.script("COMMIT")
            } catch {
                if connection.isInTransaction { _ = try? connection.script("ROLLBACK") }
                throw error
            }
        }
    }
}
