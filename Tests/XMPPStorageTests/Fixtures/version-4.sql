-- SPDX-License-Identifier: Apache-2.0
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

CREATE INDEX message_age ON message (account, is_unread, at);
CREATE TABLE message_total (
    account TEXT PRIMARY KEY NOT NULL,
    count INTEGER NOT NULL,
    bytes INTEGER NOT NULL
) WITHOUT ROWID;

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

CREATE TABLE subscription_request (
    place INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    jid TEXT NOT NULL,
    text TEXT,
    at INTEGER NOT NULL,
    UNIQUE (account, jid)
);

PRAGMA application_id = 1481461840;
PRAGMA user_version = 4;
INSERT INTO stream VALUES ('romeo@example.net', 'romeo@example.net/orchard', 'session', 4294967295, 7, '[::1]:5222', 300);
INSERT INTO unacknowledged VALUES ('romeo@example.net', 3,
    '<message to=''juliet@example.net'' id=''m1''><body>sent</body></message>', 1700000000000, 'm1', 'juliet@example.net');
INSERT INTO unsettled VALUES ('romeo@example.net', 1,
    '<message to=''juliet@example.net'' id=''m0''><body>who knows</body></message>', 1600000000000, 'm0', 'juliet@example.net');
INSERT INTO outbox (account, id, recipient, state, is_uncertain, stanza, queued_at, changed_at, expires_at, reason) VALUES
    ('romeo@example.net', 'm1', 'juliet@example.net', 'sent', 0,
     '<message to=''juliet@example.net'' id=''m1''><body>sent</body></message>', 1700000000000, 1700000000001, NULL, NULL),
    ('romeo@example.net', 'm2', 'juliet@example.net', 'queued', 0,
     '<message to=''juliet@example.net'' id=''m2''><body>waits</body></message>', 1700000000000, 1700000000000, NULL, NULL),
    ('romeo@example.net', 'm3', 'juliet@example.net', 'failed', 0,
     '<message to=''juliet@example.net'' id=''m3''><body>lost</body></message>', 1700000000000, 1700000000002, NULL, 'gone');
INSERT INTO message (account, peer, is_outgoing, kind, id, origin_id, archive, archive_id, at, is_unread, body, stanza) VALUES
    ('romeo@example.net', 'juliet@example.net', 0, 'chat', 'a', NULL, 'romeo@example.net', '28482-98726', 1700000000000, 1,
     'wherefore art thou', '<message from=''juliet@example.net/balcony'' id=''a''><body>wherefore art thou</body></message>');
INSERT INTO message_text (rowid, body) VALUES (1, 'wherefore art thou');
INSERT INTO message_total VALUES ('romeo@example.net', 1, 91);
INSERT INTO roster VALUES ('romeo@example.net', 'ver7');
INSERT INTO roster_item VALUES ('romeo@example.net', 'juliet@example.net', 'Juliet', 'both', 0, 1, 'Capulets');
INSERT INTO sqlite_sequence (name, seq) VALUES ('event', 1700000000000000);
INSERT INTO event (at, text) VALUES (1700000000000, '{"type":"message"}');
INSERT INTO consumer VALUES ('bot', 1700000000000001, 1700000000000);
INSERT INTO outbox (account, id, recipient, state, is_uncertain, stanza, queued_at, changed_at, expires_at, reason, is_room) VALUES
    ('romeo@example.net', 'm4', 'coven@rooms.example.net', 'sent', 0,
     '<message to=''coven@rooms.example.net'' type=''groupchat'' id=''m4''><body>when shall we three meet again</body></message>',
     1700000000000, 1700000000003, NULL, NULL, 1);
INSERT INTO room VALUES ('romeo@example.net', 'coven@rooms.example.net', 'thirdwitch', 'cauldronburn', 0);
INSERT INTO subscription_request (account, jid, text, at) VALUES ('romeo@example.net', 'paris@example.net', 'a man of wax', 1700000000000);
