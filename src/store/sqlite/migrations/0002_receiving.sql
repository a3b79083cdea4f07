-- Receiving: sources own messages and endpoints as applications do. What only received messages have is NULL elsewhere.

CREATE TABLE sources (
  id              TEXT PRIMARY KEY,
  name            TEXT UNIQUE,
  revision        INTEGER NOT NULL,
  fanout_revision INTEGER NOT NULL,
  doc             TEXT NOT NULL
) STRICT;

ALTER TABLE messages ADD COLUMN headers TEXT;
ALTER TABLE messages ADD COLUMN content_type TEXT;
ALTER TABLE messages ADD COLUMN conflicts INTEGER;

ALTER TABLE deliveries ADD COLUMN max_attempts INTEGER;
CREATE INDEX deliveries_retrying ON deliveries (due_at, id) WHERE state = 'pending' AND attempts > 0;

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
