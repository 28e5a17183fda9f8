// SPDX-License-Identifier: Apache-2.0

// What the control protocol and the settings say is JSON: who speaks them reads and writes it.
@_exported public import JSONText
