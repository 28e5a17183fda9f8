/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SWIFT_XMPP_COPENSSL_SHIM_H
#define SWIFT_XMPP_COPENSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#endif
