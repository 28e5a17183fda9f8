/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SWIFT_XMPP_CUNISTRING_H
#define SWIFT_XMPP_CUNISTRING_H

/* Plain C types only: libunistring's own headers clash with the C library's module. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* General categories, one bit each, as uc_general_category() numbers them. */
enum {
    XMPP_CATEGORY_LU = 0x00000001,
    XMPP_CATEGORY_LL = 0x00000002,
    XMPP_CATEGORY_LT = 0x00000004,
    XMPP_CATEGORY_LM = 0x00000008,
    XMPP_CATEGORY_LO = 0x00000010,
    XMPP_CATEGORY_MN = 0x00000020,
    XMPP_CATEGORY_MC = 0x00000040,
    XMPP_CATEGORY_ME = 0x00000080,
    XMPP_CATEGORY_ND = 0x00000100,
    XMPP_CATEGORY_NL = 0x00000200,
    XMPP_CATEGORY_NO = 0x00000400,
    XMPP_CATEGORY_PC = 0x00000800,
    XMPP_CATEGORY_PD = 0x00001000,
    XMPP_CATEGORY_PS = 0x00002000,
    XMPP_CATEGORY_PE = 0x00004000,
    XMPP_CATEGORY_PI = 0x00008000,
    XMPP_CATEGORY_PF = 0x00010000,
    XMPP_CATEGORY_PO = 0x00020000,
    XMPP_CATEGORY_SM = 0x00040000,
    XMPP_CATEGORY_SC = 0x00080000,
    XMPP_CATEGORY_SK = 0x00100000,
    XMPP_CATEGORY_SO = 0x00200000,
    XMPP_CATEGORY_ZS = 0x00400000,
    XMPP_CATEGORY_CC = 0x02000000,
    XMPP_CATEGORY_CO = 0x10000000,
    XMPP_CATEGORY_CN = 0x20000000,
};

/* Bidirectional classes that the Bidi Rule (RFC 5893 section 2) names; all others are OTHER. */
enum {
    XMPP_BIDI_OTHER = 0,
    XMPP_BIDI_L,
    XMPP_BIDI_R,
    XMPP_BIDI_AL,
    XMPP_BIDI_AN,
    XMPP_BIDI_EN,
    XMPP_BIDI_ES,
    XMPP_BIDI_CS,
    XMPP_BIDI_ET,
    XMPP_BIDI_ON,
    XMPP_BIDI_BN,
    XMPP_BIDI_NSM,
};

/* Joining types that the rule for ZERO WIDTH NON-JOINER (RFC 5892 appendix A.1) names. */
enum {
    XMPP_JOINING_OTHER = 0,
    XMPP_JOINING_T,
    XMPP_JOINING_L,
    XMPP_JOINING_R,
    XMPP_JOINING_D,
};

/* Scripts that the contextual rules (RFC 5892 appendix A) name. */
enum {
    XMPP_SCRIPT_OTHER = 0,
    XMPP_SCRIPT_GREEK,
    XMPP_SCRIPT_HEBREW,
    XMPP_SCRIPT_HIRAGANA,
    XMPP_SCRIPT_KATAKANA,
    XMPP_SCRIPT_HAN,
};

/* uc_general_category: one XMPP_CATEGORY bit (or one that is not named above). */
uint32_t xmpp_category(uint32_t character);

/* uc_is_property_default_ignorable_code_point or uc_is_property_not_a_character. */
bool xmpp_is_ignorable(uint32_t character);

/* uc_is_property_not_a_character. */
bool xmpp_is_noncharacter(uint32_t character);

/* uc_bidi_class. */
int xmpp_bidi_class(uint32_t character);

/* uc_joining_type. */
int xmpp_joining_type(uint32_t character);

/* uc_combining_class is Virama (9). */
bool xmpp_is_virama(uint32_t character);

/* uc_script. */
int xmpp_script(uint32_t character);

/* The decomposition of a fullwidth or halfwidth character (uc_decomposition), any other character as it is. */
uint32_t xmpp_map_width(uint32_t character);

/* Whether NFKC changes the character (u32_normalize); true as well when memory runs out. */
bool xmpp_has_compatibility(uint32_t character);

/* u8_normalize to NFC. Returns the length written, or -1 when `capacity` is too small or memory runs out.
   A capacity of three times the length is always enough. */
ptrdiff_t xmpp_nfc(const uint8_t *text, size_t length, uint8_t *output, size_t capacity);

/* u8_normalize to NFKC. Returns as xmpp_nfc; eleven times the length is always enough (U+FDFA). */
ptrdiff_t xmpp_nfkc(const uint8_t *text, size_t length, uint8_t *output, size_t capacity);

/* u8_tolower, for no language in particular. Returns as xmpp_nfc; three times the length is always enough. */
ptrdiff_t xmpp_lowercase(const uint8_t *text, size_t length, uint8_t *output, size_t capacity);

#endif
