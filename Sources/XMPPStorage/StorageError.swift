// SPDX-License-Identifier: Apache-2.0

public import XMPPProtocol

/// Why something could not be kept or read: which file, what failed, and what to do about it.
///
/// What was to be written is not there then, and nothing else has changed: the same may be tried again, also in the
/// same process, once the cause is gone.
public struct StorageError: KeepingFailure, Sendable, Hashable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// There is no room on the disk.
        case full
        /// The disk or the file system failed.
        case inputOutput
        /// The file, its folder or its file system can only be read.
        case readOnly
        /// The file is no intact database.
        case damaged
        /// The file was written by a later version of this software.
        case newer
        /// The file is a database of another program.
        case foreign
        /// The file or its folder belongs to somebody else, or others may read it.
        case permissions
        /// Another process has used the file for longer than ``Database/busyTimeout``.
        case busy
        /// A rule of the tables was broken, such as that an id is there only once.
        case constraint
        /// What was to be kept cannot be: it is too large or too deep to be read back, or there is no way to write it.
        case unstorable
        /// The database was closed.
        case closed
        /// Anything else: a fault of this software, or memory that has run out.
        case other
    }

    /// What kind of failure it is.
    public var code: Code
    /// The file.
    public var file: String
    /// What failed and what to do, as one sentence for people. It never holds what was to be stored.
    public var message: String

    /// Makes an error.
    public init(_ code: Code, file: String, _ message: String) {
        self.code = code
        self.file = file
        self.message = message
    }

    /// Whether the same may succeed later without anybody touching the file itself.
    public var isTemporary: Bool {
        switch code {
        case .full, .inputOutput, .readOnly, .busy: true
        case .damaged, .newer, .foreign, .permissions, .constraint, .unstorable, .closed, .other: false
        }
    }

    /// Whether it is what was to be kept that cannot be, however well the file is.
    public var isFinal: Bool {
        switch code {
        case .unstorable, .constraint: true
        case .full, .inputOutput, .readOnly, .damaged, .newer, .foreign, .permissions, .busy, .closed, .other: false
        }
    }

    /// The message.
    public var description: String { message }
}
