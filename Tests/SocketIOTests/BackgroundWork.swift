// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// Blocking work of a test, away from the cooperative threads.
///
/// Unchecked: `DispatchGroup` is made to be used from many threads.
final class BackgroundWork: @unchecked Sendable {
    private static let queue = DispatchQueue(label: "swift-xmpp.tests", attributes: .concurrent)
    private let group = DispatchGroup()

    init(_ body: @escaping @Sendable () -> Void) {
        Self.queue.async(group: group, execute: DispatchWorkItem(block: body))
    }

    /// Waits until the work is done.
    func join() {
        group.wait()
    }
}
