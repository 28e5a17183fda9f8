/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SWIFT_XMPP_CUNISTRING_H
#define SWIFT_XMPP_CUNISTRING_H

/* Plain C types only: libunistring's own headers clash with the C library's module. */

#endif
