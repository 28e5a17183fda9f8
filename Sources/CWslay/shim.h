/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SWIFT_XMPP_CWSLAY_SHIM_H
#define SWIFT_XMPP_CWSLAY_SHIM_H

#include <wslay/wslay.h>

#endif
