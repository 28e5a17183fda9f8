/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SWIFT_XMPP_CLIBXML2_SHIM_H
#define SWIFT_XMPP_CLIBXML2_SHIM_H

#include <libxml/xmlversion.h>

/* Debian's libxml2 declares ICU's types in its headers, which then clash with the ICU inside of Foundation. They appear
   only in the last members of xmlCharEncodingHandler, which Swift never sees but by pointer. */
#undef LIBXML_ICU_ENABLED

#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlerror.h>

#endif
