/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SWIFT_XMPP_CIDN2_SHIM_H
#define SWIFT_XMPP_CIDN2_SHIM_H

#include <idn2.h>

#endif
