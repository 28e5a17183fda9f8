// SPDX-License-Identifier: Apache-2.0

import Glibc
import SocketIO
import Testing

@testable import XMPPTransport

@Suite("Addresses from the system")
struct SystemAddressResolverTests {
    @Test(
        "a name that does not exist is told from one that nobody could be asked about",
        arguments: [
            (EAI_NONAME, false), (Int32(-5), false), (Int32(-9), false), (EAI_AGAIN, true), (EAI_FAIL, true),
            (EAI_MEMORY, true), (EAI_SYSTEM, true),
        ])
    func failures(code: Int32, isPassing: Bool) {
        let error = SystemAddressResolver.failure(code, EMFILE, "example.org")
        switch error {
        case .resolverFailed(let name, _): #expect(isPassing && name == "example.org")
        case .hostNotFound(let name, _): #expect(!isPassing && name == "example.org")
        default: Issue.record("\(error)")
        }
    }

    @Test("the system's own names are found")
    func localhost() async throws {
        let addresses = try await SystemAddressResolver().addresses(of: "localhost", port: 5222)
        #expect(!addresses.isEmpty && addresses.allSatisfy { $0.isLoopback && $0.port == 5222 })
    }
}
