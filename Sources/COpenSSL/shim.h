/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SWIFT_XMPP_COPENSSL_SHIM_H
#define SWIFT_XMPP_COPENSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pkcs12.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/* Macros that Swift cannot see, one function each. */

static inline int shim_SSL_CTX_set_min_proto_version(SSL_CTX *ctx, int version) {
    return (int)SSL_CTX_set_min_proto_version(ctx, version);
}

static inline int shim_SSL_CTX_set_max_proto_version(SSL_CTX *ctx, int version) {
    return (int)SSL_CTX_set_max_proto_version(ctx, version);
}

static inline long shim_SSL_CTX_set_mode(SSL_CTX *ctx, long mode) {
    return SSL_CTX_set_mode(ctx, mode);
}

static inline long shim_SSL_CTX_set_session_cache_mode(SSL_CTX *ctx, long mode) {
    return SSL_CTX_set_session_cache_mode(ctx, mode);
}

static inline uint64_t shim_SSL_OP_NO_RENEGOTIATION(void) {
    return SSL_OP_NO_RENEGOTIATION;
}

static inline uint64_t shim_SSL_OP_NO_COMPRESSION(void) {
    return SSL_OP_NO_COMPRESSION;
}

static inline void shim_SSL_CTX_set_read_ahead(SSL_CTX *ctx, int on) {
    SSL_CTX_set_read_ahead(ctx, on);
}

static inline unsigned long shim_XN_FLAG_RFC2253(void) {
    return XN_FLAG_RFC2253;
}

static inline int shim_SSL_set_tlsext_host_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, name);
}

static inline int shim_SSL_get_extms_support(SSL *ssl) {
    return (int)SSL_get_extms_support(ssl);
}

static inline const EVP_MD *shim_EVP_get_digestbynid(int nid) {
    return EVP_get_digestbynid(nid);
}

static inline long shim_BIO_set_mem_eof_return(BIO *bio, long value) {
    return BIO_set_mem_eof_return(bio, value);
}

static inline int shim_sk_GENERAL_NAME_num(const GENERAL_NAMES *names) {
    return sk_GENERAL_NAME_num(names);
}

static inline GENERAL_NAME *shim_sk_GENERAL_NAME_value(const GENERAL_NAMES *names, int index) {
    return sk_GENERAL_NAME_value(names, index);
}

static inline int shim_sk_X509_num(const STACK_OF(X509) *chain) {
    return sk_X509_num(chain);
}

static inline void shim_sk_X509_free(STACK_OF(X509) *chain) {
    sk_X509_free(chain);
}

static inline X509 *shim_sk_X509_value(const STACK_OF(X509) *chain, int index) {
    return sk_X509_value(chain, index);
}

#endif
