// SPDX-License-Identifier: Apache-2.0

import ExampleSupport
import XMPP

await run("SendOneMessage") { options in
    guard !options.isDemo else { return try await demonstrate() }
    guard let address = options.words.first, options.words.count == 2, let text = options.words.last else {
        throw UsageError("usage: SendOneMessage [options] RECIPIENT TEXT\n\(Options.usage)")
    }
    try await sendOneMessage(text, to: try JID(address), as: try options.configuration())
    say("The server has it.")
}
