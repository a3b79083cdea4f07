-- The first schema. Times are milliseconds since the Unix epoch; ids sort by creation.

-- One row per run of a node. The epoch is the token under which deliveries are leased; it never repeats.
CREATE TABLE nodes (
  epoch      INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT NOT NULL,
  joined_at  INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

-- Records that the API manages: the document as JSON beside what is looked up by.
CREATE TABLE applications (
  id              TEXT PRIMARY KEY,
  name            TEXT UNIQUE,
  revision        INTEGER NOT NULL,
  fanout_revision INTEGER NOT NULL,
  doc             TEXT NOT NULL
) STRICT;

CREATE TABLE endpoints (
  id              TEXT PRIMARY KEY,
  parent_id       TEXT NOT NULL,
  name            TEXT,
  revision        INTEGER NOT NULL,
  doc             TEXT NOT NULL,
  status          TEXT NOT NULL CHECK (status IN ('active', 'paused', 'failed', 'disabled')),
  reason          TEXT NOT NULL,
  failure_count   INTEGER NOT NULL,
  last_success_at INTEGER,
  last_failure_at INTEGER,
  UNIQUE (parent_id, name)
) STRICT;
CREATE INDEX endpoints_by_parent ON endpoints (parent_id, id);

CREATE TABLE event_types (id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, revision INTEGER NOT NULL, doc TEXT NOT NULL) STRICT;
CREATE TABLE policies    (id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, revision INTEGER NOT NULL, doc TEXT NOT NULL) STRICT;
CREATE TABLE tokens      (id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, revision INTEGER NOT NULL, doc TEXT NOT NULL) STRICT;

CREATE TABLE messages (
  id             TEXT NOT NULL,
  application_id TEXT NOT NULL,
  event_id       TEXT,
  event_type     TEXT NOT NULL,
  channels       TEXT,
  tags           TEXT,
  payload        BLOB NOT NULL,
  created_at     INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX messages_by_application ON messages (application_id, id);
CREATE UNIQUE INDEX messages_by_event_id ON messages (application_id, event_id) WHERE event_id IS NOT NULL;

-- Only legal transitions are made (model/transitions.ts): every statement that changes a state names the one it starts from.
CREATE TABLE deliveries (
  id                TEXT PRIMARY KEY,
  message_id        TEXT NOT NULL,
  application_id    TEXT NOT NULL,
  destination_id    TEXT NOT NULL,
  event_type        TEXT NOT NULL,
  state             TEXT NOT NULL CHECK (state IN ('pending', 'leased', 'delivered', 'dead', 'held', 'cancelled')),
  trigger_kind      TEXT NOT NULL,
  attempts          INTEGER NOT NULL,
  schedule_attempts INTEGER NOT NULL,
  first_attempt_at  INTEGER,
  due_at            INTEGER,
  lease_epoch       INTEGER,
  created_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL,
  reason            TEXT NOT NULL,
  dead_cause        TEXT,
  dead_at           INTEGER,
  -- A leased row has an owner and no other row has one; a pending row has a due time.
  CHECK ((state = 'leased') = (lease_epoch IS NOT NULL)),
  CHECK (state <> 'pending' OR due_at IS NOT NULL),
  CHECK ((state = 'dead') = (dead_cause IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX deliveries_by_message ON deliveries (message_id, destination_id);
CREATE INDEX deliveries_by_destination ON deliveries (destination_id, id);
CREATE INDEX deliveries_by_application ON deliveries (application_id, id);
CREATE INDEX deliveries_pending ON deliveries (destination_id, due_at, id) WHERE state = 'pending';
CREATE INDEX deliveries_leased ON deliveries (lease_epoch, id) WHERE state = 'leased';
CREATE INDEX deliveries_held ON deliveries (destination_id, id) WHERE state = 'held';
CREATE INDEX deliveries_dead ON deliveries (state, id) WHERE state = 'dead';

CREATE TABLE attempts (
  id                 TEXT NOT NULL,
  message_id         TEXT NOT NULL,
  delivery_id        TEXT NOT NULL,
  application_id     TEXT NOT NULL,
  destination_id     TEXT NOT NULL,
  event_type         TEXT NOT NULL,
  number             INTEGER NOT NULL,
  trigger_kind       TEXT NOT NULL,
  url                TEXT NOT NULL,
  started_at         INTEGER NOT NULL,
  duration_ms        INTEGER NOT NULL,
  status             INTEGER NOT NULL,
  error              TEXT,
  response           TEXT NOT NULL,
  response_truncated INTEGER NOT NULL,
  succeeded          INTEGER NOT NULL,
  decision           TEXT NOT NULL,
  PRIMARY KEY (message_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX attempts_by_destination ON attempts (destination_id, id);

-- One row per destination that has, or had, waiting work: when its earliest pending delivery is due. A parked lane is
-- in the hands of a node that knows it has more and asks for it by name. `sweep` is work that a status change left.
CREATE TABLE lanes (
  destination_id TEXT PRIMARY KEY,
  due_at         INTEGER,
  parked_by      INTEGER,
  sweep          TEXT CHECK (sweep IN ('hold', 'unhold', 'cancel'))
) STRICT, WITHOUT ROWID;
CREATE INDEX lanes_due ON lanes (due_at) WHERE due_at IS NOT NULL AND parked_by IS NULL;
CREATE INDEX lanes_parked ON lanes (parked_by, due_at) WHERE parked_by IS NOT NULL;
CREATE INDEX lanes_to_sweep ON lanes (destination_id) WHERE sweep IS NOT NULL;

-- Answers kept under idempotency keys.
CREATE TABLE remembered (
  key         TEXT PRIMARY KEY,
  fingerprint TEXT NOT NULL,
  status      INTEGER NOT NULL,
  body        TEXT NOT NULL,
  expires_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX remembered_by_expiry ON remembered (expires_at);
