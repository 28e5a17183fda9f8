// SPDX-License-Identifier: Apache-2.0

import ExampleSupport
import JabberControl

let usage = """
    usage: AnsweringMachine [ACCOUNT]   answer for the user's daemon until SIGTERM or Ctrl-C
           AnsweringMachine --demo      do so with a daemon and a server of its own, and end
    """

await run("AnsweringMachine") { (words: [String]) in
    switch (words.first, words.count) {
    case ("--demo"?, 1):
        try await demonstrate()
    case (let account, ...1) where account?.hasPrefix("-") != true:
        let machine = AnsweringMachine(ControlClient(account: account))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await machine.run() }
            group.addTask { await untilTerminated() }
            try await group.next()
            group.cancelAll()
        }
    default:
        throw UsageError(usage)
    }
}
