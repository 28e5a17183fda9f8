/* SPDX-License-Identifier: Apache-2.0 */
#include "CUnistring.h"

#include <stdlib.h>
#include <string.h>
#include <unicase.h>
#include <unictype.h>
#include <uninorm.h>

#define SAME_CATEGORY(ours, theirs) \
    _Static_assert((uint32_t)XMPP_CATEGORY_##ours == (uint32_t)UC_CATEGORY_MASK_##theirs, "category bits of libunistring")

SAME_CATEGORY(LU, Lu);
SAME_CATEGORY(LL, Ll);
SAME_CATEGORY(LT, Lt);
SAME_CATEGORY(LM, Lm);
SAME_CATEGORY(LO, Lo);
SAME_CATEGORY(MN, Mn);
SAME_CATEGORY(MC, Mc);
SAME_CATEGORY(ME, Me);
SAME_CATEGORY(ND, Nd);
SAME_CATEGORY(NL, Nl);
SAME_CATEGORY(NO, No);
SAME_CATEGORY(PC, Pc);
SAME_CATEGORY(PD, Pd);
SAME_CATEGORY(PS, Ps);
SAME_CATEGORY(PE, Pe);
SAME_CATEGORY(PI, Pi);
SAME_CATEGORY(PF, Pf);
SAME_CATEGORY(PO, Po);
SAME_CATEGORY(SM, Sm);
SAME_CATEGORY(SC, Sc);
SAME_CATEGORY(SK, Sk);
SAME_CATEGORY(SO, So);
SAME_CATEGORY(ZS, Zs);
SAME_CATEGORY(CC, Cc);
SAME_CATEGORY(CO, Co);
SAME_CATEGORY(CN, Cn);

uint32_t xmpp_category(uint32_t character) {
    return uc_general_category(character).bitmask;
}

bool xmpp_is_noncharacter(uint32_t character) {
    return uc_is_property_not_a_character(character);
}

bool xmpp_is_ignorable(uint32_t character) {
    return uc_is_property_default_ignorable_code_point(character) || uc_is_property_not_a_character(character);
}

int xmpp_bidi_class(uint32_t character) {
    switch (uc_bidi_class(character)) {
    case UC_BIDI_L: return XMPP_BIDI_L;
    case UC_BIDI_R: return XMPP_BIDI_R;
    case UC_BIDI_AL: return XMPP_BIDI_AL;
    case UC_BIDI_AN: return XMPP_BIDI_AN;
    case UC_BIDI_EN: return XMPP_BIDI_EN;
    case UC_BIDI_ES: return XMPP_BIDI_ES;
    case UC_BIDI_CS: return XMPP_BIDI_CS;
    case UC_BIDI_ET: return XMPP_BIDI_ET;
    case UC_BIDI_ON: return XMPP_BIDI_ON;
    case UC_BIDI_BN: return XMPP_BIDI_BN;
    case UC_BIDI_NSM: return XMPP_BIDI_NSM;
    default: return XMPP_BIDI_OTHER;
    }
}

int xmpp_joining_type(uint32_t character) {
    switch (uc_joining_type(character)) {
    case UC_JOINING_TYPE_T: return XMPP_JOINING_T;
    case UC_JOINING_TYPE_L: return XMPP_JOINING_L;
    case UC_JOINING_TYPE_R: return XMPP_JOINING_R;
    case UC_JOINING_TYPE_D: return XMPP_JOINING_D;
    default: return XMPP_JOINING_OTHER;
    }
}

bool xmpp_is_virama(uint32_t character) {
    return uc_combining_class(character) == UC_CCC_VR;
}

int xmpp_script(uint32_t character) {
    const uc_script_t *script = uc_script(character);
    if (script == NULL) return XMPP_SCRIPT_OTHER;
    if (strcmp(script->name, "Greek") == 0) return XMPP_SCRIPT_GREEK;
    if (strcmp(script->name, "Hebrew") == 0) return XMPP_SCRIPT_HEBREW;
    if (strcmp(script->name, "Hiragana") == 0) return XMPP_SCRIPT_HIRAGANA;
    if (strcmp(script->name, "Katakana") == 0) return XMPP_SCRIPT_KATAKANA;
    if (strcmp(script->name, "Han") == 0) return XMPP_SCRIPT_HAN;
    return XMPP_SCRIPT_OTHER;
}

uint32_t xmpp_map_width(uint32_t character) {
    ucs4_t mapped[UC_DECOMPOSITION_MAX_LENGTH];
    int tag = UC_DECOMP_CANONICAL;
    int length = uc_decomposition(character, &tag, mapped);
    bool width = tag == UC_DECOMP_WIDE || tag == UC_DECOMP_NARROW;
    return length == 1 && width ? mapped[0] : character;
}

bool xmpp_has_compatibility(uint32_t character) {
    uint32_t buffer[32];
    size_t length = sizeof buffer / sizeof buffer[0];
    uint32_t *result = u32_normalize(UNINORM_NFKC, &character, 1, buffer, &length);
    if (result == NULL) return true;
    bool changed = length != 1 || result[0] != character;
    if (result != buffer) free(result);
    return changed;
}

/* Moves what a function of libunistring returned into the caller's buffer: it may be there already. */
static ptrdiff_t deliver(uint8_t *result, size_t length, uint8_t *output, size_t capacity) {
    if (result == NULL) return -1;
    ptrdiff_t written = length <= capacity ? (ptrdiff_t)length : -1;
    if (result != output) {
        if (written >= 0) memcpy(output, result, length);
        free(result);
    }
    return written;
}

ptrdiff_t xmpp_nfc(const uint8_t *text, size_t length, uint8_t *output, size_t capacity) {
    size_t written = capacity;
    uint8_t *result = u8_normalize(UNINORM_NFC, text, length, output, &written);
    return deliver(result, written, output, capacity);
}

ptrdiff_t xmpp_nfkc(const uint8_t *text, size_t length, uint8_t *output, size_t capacity) {
    size_t written = capacity;
    uint8_t *result = u8_normalize(UNINORM_NFKC, text, length, output, &written);
    return deliver(result, written, output, capacity);
}

ptrdiff_t xmpp_lowercase(const uint8_t *text, size_t length, uint8_t *output, size_t capacity) {
    size_t written = capacity;
    uint8_t *result = u8_tolower(text, length, NULL, NULL, output, &written);
    return deliver(result, written, output, capacity);
}
