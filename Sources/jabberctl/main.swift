// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import JabberCLI

exit(CommandMain.run())
