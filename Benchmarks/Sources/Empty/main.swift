// SPDX-License-Identifier: Apache-2.0

// The least that a Swift program can do: what `jabberctl version` is measured against.
print("empty")
