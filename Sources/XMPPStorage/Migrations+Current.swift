// SPDX-License-Identifier: Apache-2.0

extension Migrations {
    /// The versions of this software's tables. A version that was released is never changed: what is new comes as
    /// another script behind it, together with a file of the version before it among the tests.
    package static let current = Migrations(
        // "XMPP".
        applicationID: 0x584D_5050,
        scripts: [version1, version2, version3, version4])

    private static let version1 = """
        CREATE TABLE stream (
            account TEXT PRIMARY KEY NOT NULL,
            jid TEXT NOT NULL,
            id TEXT,
            handled INTEGER NOT NULL,
            acknowledged INTEGER NOT NULL,
            location TEXT,
            lifetime INTEGER
        ) WITHOUT ROWID;

        CREATE TABLE unacknowledged (
            account TEXT NOT NULL REFERENCES stream (account) ON DELETE CASCADE,
            number INTEGER NOT NULL,
            stanza BLOB NOT NULL,
            sent_at INTEGER,
            id TEXT,
            recipient TEXT,
            PRIMARY KEY (account, number)
        );

        CREATE TABLE unsettled (
            account TEXT NOT NULL REFERENCES stream (account) ON DELETE CASCADE,
            number INTEGER NOT NULL,
            stanza BLOB NOT NULL,
            sent_at INTEGER,
            id TEXT,
            recipient TEXT,
            PRIMARY KEY (account, number)
        );

        CREATE TABLE outbox (
            place INTEGER PRIMARY KEY AUTOINCREMENT,
            account TEXT NOT NULL,
            id TEXT NOT NULL,
            recipient TEXT NOT NULL,
            state TEXT NOT NULL,
            is_uncertain INTEGER NOT NULL DEFAULT 0,
            stanza BLOB NOT NULL,
            queued_at INTEGER NOT NULL,
            changed_at INTEGER NOT NULL,
            expires_at INTEGER,
            reason TEXT,
            UNIQUE (account, id, recipient)
        );
        CREATE INDEX outbox_waiting ON outbox (account, place) WHERE state = 'queued';
        CREATE INDEX outbox_uncertain ON outbox (account, place) WHERE is_uncertain;

        CREATE TABLE message (
            place INTEGER PRIMARY KEY AUTOINCREMENT,
            account TEXT NOT NULL,
            peer TEXT NOT NULL,
            is_outgoing INTEGER NOT NULL,
            kind TEXT NOT NULL,
            id TEXT,
            origin_id TEXT,
            archive TEXT,
            archive_id TEXT,
            at INTEGER NOT NULL,
            is_unread INTEGER NOT NULL,
            body TEXT,
            stanza BLOB NOT NULL
        );
        CREATE UNIQUE INDEX message_archive ON message (account, archive, archive_id) WHERE archive_id IS NOT NULL;
        CREATE UNIQUE INDEX message_origin ON message (account, peer, origin_id)
            WHERE is_outgoing AND origin_id IS NOT NULL;
        CREATE INDEX message_time ON message (account, peer, at, place);
        CREATE INDEX message_unread ON message (account, peer, place) WHERE is_unread;

        CREATE VIRTUAL TABLE message_text USING fts5 (
            body, content = 'message', content_rowid = 'place', tokenize = 'unicode61 remove_diacritics 2');

        CREATE TABLE roster (
            account TEXT PRIMARY KEY NOT NULL,
            version TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE roster_item (
            account TEXT NOT NULL REFERENCES roster (account) ON DELETE CASCADE,
            jid TEXT NOT NULL,
            name TEXT,
            subscription TEXT NOT NULL,
            is_asking INTEGER NOT NULL,
            is_approved INTEGER NOT NULL,
            groups TEXT NOT NULL,
            PRIMARY KEY (account, jid)
        ) WITHOUT ROWID;

        CREATE TABLE event (
            cursor INTEGER PRIMARY KEY AUTOINCREMENT,
            at INTEGER NOT NULL,
            text BLOB NOT NULL
        );
        CREATE TABLE consumer (
            name TEXT PRIMARY KEY NOT NULL,
            cursor INTEGER NOT NULL,
            seen_at INTEGER NOT NULL
        ) WITHOUT ROWID;
        """

    /// How much there is of each account, and the order in which it makes room: neither is looked for among 100,000
    /// messages.
    private static let version2 = """
        CREATE INDEX message_age ON message (account, is_unread, at);
        CREATE TABLE message_total (
            account TEXT PRIMARY KEY NOT NULL,
            count INTEGER NOT NULL,
            bytes INTEGER NOT NULL
        ) WITHOUT ROWID;
        INSERT INTO message_total (account, count, bytes)
            SELECT account, count(*), sum(length(stanza)) FROM message GROUP BY account;
        """

    /// Messages to rooms wait as well, and arrive when the room says so; the rooms that the user is in.
    private static let version3 = """
        ALTER TABLE outbox ADD COLUMN is_room INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX outbox_unreflected ON outbox (account, place) WHERE is_room AND state = 'sent';
        CREATE TABLE room (
            account TEXT NOT NULL,
            jid TEXT NOT NULL,
            nickname TEXT NOT NULL,
            password TEXT,
            is_visit INTEGER NOT NULL,
            PRIMARY KEY (account, jid)
        ) WITHOUT ROWID;
        """

    /// Who asks to see the user's presence and has no answer.
    private static let version4 = """
        CREATE TABLE subscription_request (
            place INTEGER PRIMARY KEY AUTOINCREMENT,
            account TEXT NOT NULL,
            jid TEXT NOT NULL,
            text TEXT,
            at INTEGER NOT NULL,
            UNIQUE (account, jid)
        );
        """
}
