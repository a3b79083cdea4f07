-- The tables that every delivery writes to, cheaper to write.

-- All that accept has leased to a node, and that is not recorded or given back yet, has ids from here on: it is in no index by
-- its lease. What was leased before this column was there has a due time, and is.
ALTER TABLE nodes ADD COLUMN handed_from TEXT NOT NULL DEFAULT '';
UPDATE nodes SET handed_from = 'dlv_~';

-- They go with the table that they look at, and come back below.
DROP VIEW webhook_retry_queue;
DROP VIEW webhook_dead_letter_queue;

-- Only legal transitions are made (model/transitions.ts): every statement that changes a state names the one it starts from.
CREATE TABLE new_deliveries (
  id                TEXT PRIMARY KEY,
  message_id        TEXT NOT NULL,
  application_id    TEXT NOT NULL,
  destination_id    TEXT NOT NULL,
  event_type        TEXT NOT NULL,
  state             TEXT NOT NULL,
  trigger_kind      TEXT NOT NULL,
  attempts          INTEGER NOT NULL,
  schedule_attempts INTEGER NOT NULL,
  max_attempts      INTEGER,
  first_attempt_at  INTEGER,
  -- NULL for what was handed to a node as it was accepted, and for what waits for nothing any more.
  due_at            INTEGER,
  lease_epoch       INTEGER,
  created_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL,
  reason            TEXT NOT NULL,
  dead_cause        TEXT,
  dead_at           INTEGER,
  -- What a dead letter died of: groups go by it. NULL on everything that is not dead.
  fingerprint       TEXT,
  last_error        TEXT,
  -- A leased row has an owner and no other row has one; a pending row has a due time; what is dead has a cause. One CASE, the
  -- commonest first: for a list of states SQLite would build a table at every statement.
  CHECK (CASE state
    WHEN 'delivered' THEN lease_epoch IS NULL AND dead_cause IS NULL
    WHEN 'leased'    THEN lease_epoch IS NOT NULL AND dead_cause IS NULL
    WHEN 'pending'   THEN lease_epoch IS NULL AND dead_cause IS NULL AND due_at IS NOT NULL
    WHEN 'held'      THEN lease_epoch IS NULL AND dead_cause IS NULL
    WHEN 'cancelled' THEN lease_epoch IS NULL AND dead_cause IS NULL
    WHEN 'dead'      THEN lease_epoch IS NULL AND dead_cause IS NOT NULL
    ELSE false
  END)
) STRICT;
INSERT INTO new_deliveries (id, message_id, application_id, destination_id, event_type, state, trigger_kind, attempts,
  schedule_attempts, max_attempts, first_attempt_at, due_at, lease_epoch, created_at, updated_at, reason, dead_cause, dead_at,
  fingerprint, last_error)
SELECT id, message_id, application_id, destination_id, event_type, state, trigger_kind, attempts,
  schedule_attempts, max_attempts, first_attempt_at, CASE state WHEN 'leased' THEN coalesce(due_at, created_at) ELSE due_at END,
  lease_epoch, created_at, updated_at, reason, dead_cause, dead_at, fingerprint, last_error
FROM deliveries ORDER BY id;
DROP TABLE deliveries;
ALTER TABLE new_deliveries RENAME TO deliveries;
CREATE UNIQUE INDEX deliveries_by_message ON deliveries (message_id, destination_id);
CREATE INDEX deliveries_by_destination ON deliveries (destination_id, id);
CREATE INDEX deliveries_by_application ON deliveries (application_id, id);
CREATE INDEX deliveries_pending ON deliveries (destination_id, due_at, id) WHERE state = 'pending';
CREATE INDEX deliveries_claimed ON deliveries (lease_epoch, id) WHERE state = 'leased' AND due_at IS NOT NULL;
CREATE INDEX deliveries_held ON deliveries (destination_id, id) WHERE state = 'held';
CREATE INDEX deliveries_dead ON deliveries (state, id) WHERE state = 'dead';
CREATE INDEX deliveries_retrying ON deliveries (due_at, id) WHERE state = 'pending' AND attempts > 0;
-- A group is a range of this index: the first and the last of it are its ends.
CREATE INDEX deliveries_dead_groups ON deliveries (application_id, event_type, fingerprint, dead_at, id) WHERE state = 'dead';

-- With rowids: rows this long, kept in the order of a key, split their pages at every few inserts.
CREATE TABLE new_attempts (
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
  decision           TEXT NOT NULL
) STRICT;
INSERT INTO new_attempts (id, message_id, delivery_id, application_id, destination_id, event_type, number, trigger_kind, url,
  started_at, duration_ms, status, error, response, response_truncated, succeeded, decision)
SELECT id, message_id, delivery_id, application_id, destination_id, event_type, number, trigger_kind, url,
  started_at, duration_ms, status, error, response, response_truncated, succeeded, decision
FROM attempts ORDER BY message_id, id;
DROP TABLE attempts;
ALTER TABLE new_attempts RENAME TO attempts;
CREATE INDEX attempts_by_destination ON attempts (destination_id, id);
-- After the other: of two that would do, SQLite takes the younger, and a message has fewer attempts than a destination.
CREATE UNIQUE INDEX attempts_by_message ON attempts (message_id, id);

-- For people and their reports: one row per delivery that waits for a retry, and per dead letter. Times are UTC.
CREATE VIEW webhook_retry_queue AS
SELECT
  d.id,
  coalesce(m.event_id, m.id) AS stripe_event_id,
  d.event_type,
  CAST(m.payload AS TEXT) AS payload,
  max(d.schedule_attempts - 1, 0) AS retry_count,
  coalesce(d.max_attempts - 1, 0) AS max_retries,
  strftime('%Y-%m-%dT%H:%M:%fZ', d.due_at / 1000.0, 'unixepoch') AS next_retry_at,
  (SELECT CASE WHEN a.error IS NULL THEN 'HTTP ' || a.status ELSE a.error END || ': ' || a.response
   FROM attempts a WHERE a.message_id = d.message_id AND a.delivery_id = d.id ORDER BY a.id DESC LIMIT 1) AS last_error,
  strftime('%Y-%m-%dT%H:%M:%fZ', d.created_at / 1000.0, 'unixepoch') AS created_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', d.updated_at / 1000.0, 'unixepoch') AS updated_at
FROM deliveries d JOIN messages m ON m.application_id = d.application_id AND m.id = d.message_id
WHERE d.state = 'pending' AND d.attempts > 0;

CREATE VIEW webhook_dead_letter_queue AS
SELECT
  d.id,
  coalesce(m.event_id, m.id) AS stripe_event_id,
  d.event_type,
  CAST(m.payload AS TEXT) AS payload,
  max(d.schedule_attempts - 1, 0) AS retry_count,
  coalesce(
    (SELECT CASE WHEN a.error IS NULL THEN 'HTTP ' || a.status ELSE a.error END || ': ' || a.response
     FROM attempts a WHERE a.message_id = d.message_id AND a.delivery_id = d.id ORDER BY a.id DESC LIMIT 1),
    d.reason) AS error,
  strftime('%Y-%m-%dT%H:%M:%fZ', m.created_at / 1000.0, 'unixepoch') AS original_timestamp,
  strftime('%Y-%m-%dT%H:%M:%fZ', d.dead_at / 1000.0, 'unixepoch') AS created_at
FROM deliveries d JOIN messages m ON m.application_id = d.application_id AND m.id = d.message_id
WHERE d.state = 'dead';
