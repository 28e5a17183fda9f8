/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SWIFT_XMPP_CUNBOUND_SHIM_H
#define SWIFT_XMPP_CUNBOUND_SHIM_H

#include <unbound.h>

#endif
