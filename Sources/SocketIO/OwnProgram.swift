// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The file that this process runs, and what lies beside it.
package enum OwnProgram {
    /// Its path, links followed; empty where there is no `/proc` to tell.
    package static var path: String {
        String(unsafeUninitializedCapacity: Int(PATH_MAX)) { bytes in
            bytes.withMemoryRebound(to: CChar.self) { buffer in
                buffer.baseAddress.map { max(0, readlink("/proc/self/exe", $0, buffer.count)) } ?? 0
            }
        }
    }

    /// Its folder, without a slash at the end; `.` where nobody can tell.
    package static var folder: String {
        let path = path
        return path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? "."
    }

    /// The path of a program in the same folder.
    package static func neighbour(_ name: String) -> String { "\(folder)/\(name)" }
}
