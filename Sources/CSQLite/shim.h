/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SWIFT_XMPP_CSQLITE_SHIM_H
#define SWIFT_XMPP_CSQLITE_SHIM_H

#include <sqlite3.h>

/* Functions with variable arguments and macros with casts that Swift cannot see, one function each. */

static inline int shim_sqlite3_db_config_defensive(sqlite3 *db) {
    return sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}

static inline int shim_sqlite3_bind_text(sqlite3_stmt *statement, int index, const char *text, int bytes) {
    return sqlite3_bind_text(statement, index, text, bytes, SQLITE_TRANSIENT);
}

static inline int shim_sqlite3_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}

#endif
