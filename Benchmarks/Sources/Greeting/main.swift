// SPDX-License-Identifier: Apache-2.0

// Greeting SOCKET
//
// The least that a command over a daemon's session can do: connects to the Unix socket and waits for the line that the
// daemon says first. That is one round trip; what `jabberctl online` is measured against.

internal import Glibc

guard CommandLine.arguments.count == 2 else {
    print("usage: Greeting SOCKET")
    exit(64)
}
var address = sockaddr_un()
address.sun_family = sa_family_t(AF_UNIX)
let path = Array(CommandLine.arguments[1].utf8)
let fits = withUnsafeMutableBytes(of: &address.sun_path) { place in
    guard path.count < place.count else { return false }
    place.copyBytes(from: path)
    return true
}
let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
let connected = withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
}
guard fits, connected == 0 else {
    print("nobody listens at \(CommandLine.arguments[1])")
    exit(69)
}
var buffer = [UInt8](repeating: 0, count: 4_096)
let count = read(descriptor, &buffer, buffer.count)
guard count > 0, buffer[count - 1] == 0x0A else {
    print("no greeting")
    exit(76)
}
print(count)
