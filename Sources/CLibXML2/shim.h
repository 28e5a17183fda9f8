/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SWIFT_XMPP_CLIBXML2_SHIM_H
#define SWIFT_XMPP_CLIBXML2_SHIM_H

#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlerror.h>

#endif
