// SPDX-License-Identifier: Apache-2.0

internal import JabberDaemon

DaemonMain.run(Array(CommandLine.arguments.dropFirst()))
