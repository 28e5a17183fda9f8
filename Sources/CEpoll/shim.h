/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SWIFT_XMPP_CEPOLL_SHIM_H
#define SWIFT_XMPP_CEPOLL_SHIM_H

#include <sys/epoll.h>

#endif
