-- The first schema. Times are milliseconds since the Unix epoch; ids sort by creation.
-- COLLATE "C" wherever something is ordered by: ids must sort by their bytes, whatever the database's locale.

-- One row per run of a node. The epoch is the token under which deliveries are leased; it never repeats.
CREATE TABLE nodes (
  epoch      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name       text NOT NULL,
  joined_at  bigint NOT NULL,
  expires_at bigint NOT NULL,
  -- What this node was handed as it was accepted, and has not recorded yet, has ids from here on.
  handed_from text COLLATE "C" NOT NULL
) WITH (fillfactor = 50);

-- Records that the API manages: the document as JSON text beside what is looked up by. Text, because jsonb refuses \u0000.
CREATE TABLE applications (
  id              text COLLATE "C" PRIMARY KEY,
  name            text COLLATE "C" UNIQUE,
  revision        bigint NOT NULL,
  fanout_revision bigint NOT NULL,
  doc             text NOT NULL
) WITH (fillfactor = 80);

-- Sources own messages and endpoints as applications do.
CREATE TABLE sources (
  id              text COLLATE "C" PRIMARY KEY,
  name            text COLLATE "C" UNIQUE,
  revision        bigint NOT NULL,
  fanout_revision bigint NOT NULL,
  doc             text NOT NULL
) WITH (fillfactor = 80);

CREATE TABLE endpoints (
  id              text COLLATE "C" PRIMARY KEY,
  parent_id       text COLLATE "C" NOT NULL,
  name            text COLLATE "C",
  revision        bigint NOT NULL,
  doc             text NOT NULL,
  status          text NOT NULL CHECK (status IN ('active', 'paused', 'failed', 'disabled')),
  reason          text NOT NULL,
  failure_count   bigint NOT NULL,
  last_success_at bigint,
  last_failure_at bigint,
  UNIQUE (parent_id, name)
) WITH (fillfactor = 80);
CREATE INDEX endpoints_by_parent ON endpoints (parent_id, id);
CREATE INDEX endpoints_by_name ON endpoints (name) WHERE name IS NOT NULL;

CREATE TABLE event_types (id text COLLATE "C" PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE, revision bigint NOT NULL, doc text NOT NULL);
CREATE TABLE policies    (id text COLLATE "C" PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE, revision bigint NOT NULL, doc text NOT NULL);
-- owner_id: the application that a token is limited to, and goes with.
CREATE TABLE tokens      (id text COLLATE "C" PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE, revision bigint NOT NULL, doc text NOT NULL, owner_id text COLLATE "C");

-- Partitioned by id, which begins with its time (ids.ts): a range of ids is a range of time, and a lookup by id looks into
-- one partition. Attempts lie with their message, however late they were made: both go when their week is dropped.
-- What no partition was made for (a clock that is far off) lands in the default one.
CREATE TABLE messages (
  id             text COLLATE "C" NOT NULL,
  application_id text COLLATE "C" NOT NULL,
  event_id       text COLLATE "C",
  event_type     text COLLATE "C" NOT NULL,
  channels       jsonb,
  tags           jsonb,
  payload        bytea NOT NULL,
  created_at     bigint NOT NULL,
  -- Of received messages only.
  headers        text,
  content_type   text,
  conflicts      bigint,
  PRIMARY KEY (id)
) PARTITION BY RANGE (id);
CREATE INDEX messages_by_application ON messages (application_id, id);
CREATE TABLE messages_default PARTITION OF messages DEFAULT;

-- An index over partitions cannot be unique without the partition's key, so uniqueness has a table of its own.
CREATE TABLE event_ids (
  application_id text COLLATE "C" NOT NULL,
  event_id       text COLLATE "C" NOT NULL,
  message_id     text COLLATE "C" NOT NULL,
  CONSTRAINT event_ids_pkey PRIMARY KEY (application_id, event_id)
);

-- Only legal transitions are made (model/transitions.ts): every statement that changes a state names the one it starts from.
--
-- The common life is: handed over to a node as it is accepted, then delivered. That is made cheap. No index is over a
-- column that changes then, so the second version of the row is written into no index at all (a HOT update), and with
-- fillfactor 50 onto the same page, though a whole page of them may be recorded in one batch. What is looked for by its state is so by columns that only those states fill; a
-- handed-over row fills none of them, and is found by its id (nodes.handed_from).
-- Vacuumed after 2 % of changes and without pauses: a queue's dead rows cost every claim that steps over them.
CREATE TABLE deliveries (
  id                text COLLATE "C" PRIMARY KEY,
  message_id        text COLLATE "C" NOT NULL,
  application_id    text COLLATE "C" NOT NULL,
  destination_id    text COLLATE "C" NOT NULL,
  event_type        text COLLATE "C" NOT NULL,
  state             text NOT NULL CHECK (state IN ('pending', 'leased', 'delivered', 'dead', 'held', 'cancelled')),
  trigger_kind      text NOT NULL,
  attempts          integer NOT NULL,
  schedule_attempts integer NOT NULL,
  max_attempts      integer,
  first_attempt_at  bigint,
  -- Since when, or until when, it waits; NULL when it was handed over and never waited.
  due_at            bigint,
  lease_epoch       bigint,
  created_at        bigint NOT NULL,
  updated_at        bigint NOT NULL,
  reason            text NOT NULL,
  dead_cause        text,
  dead_at           bigint,
  -- What a dead letter died of; NULL on everything that is not dead.
  fingerprint       text COLLATE "C",
  last_error        text,
  -- Filled by state, for the indexes.
  queued_at         bigint GENERATED ALWAYS AS (CASE WHEN state = 'pending' THEN due_at END) STORED,
  retry_at          bigint GENERATED ALWAYS AS (CASE WHEN state = 'pending' AND attempts > 0 THEN due_at END) STORED,
  claimed_by        bigint GENERATED ALWAYS AS (CASE WHEN due_at IS NOT NULL THEN lease_epoch END) STORED,
  is_held           boolean GENERATED ALWAYS AS (CASE WHEN state = 'held' THEN true END) STORED,
  -- A leased row has an owner and no other row has one; a pending row has a due time.
  CHECK ((state = 'leased') = (lease_epoch IS NOT NULL)),
  CHECK (state <> 'pending' OR due_at IS NOT NULL),
  CHECK ((state = 'dead') = (dead_cause IS NOT NULL))
) WITH (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.1,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 0
);
CREATE UNIQUE INDEX deliveries_by_message ON deliveries (message_id, destination_id);
CREATE INDEX deliveries_by_destination ON deliveries (destination_id, id);
CREATE INDEX deliveries_by_application ON deliveries (application_id, id);
-- Partial: a delivered row, which most rows are, is in none of these.
CREATE INDEX deliveries_pending ON deliveries (destination_id, queued_at, id) WHERE queued_at IS NOT NULL;
CREATE INDEX deliveries_claimed ON deliveries (claimed_by, id) WHERE claimed_by IS NOT NULL;
CREATE INDEX deliveries_held ON deliveries (destination_id, id) WHERE is_held;
CREATE INDEX deliveries_dead ON deliveries (id) WHERE dead_cause IS NOT NULL;
CREATE INDEX deliveries_retrying ON deliveries (retry_at, id) WHERE retry_at IS NOT NULL;
-- A group of dead letters is a range of this index: the first and the last of it are its ends.
CREATE INDEX deliveries_dead_groups ON deliveries (application_id, event_type, fingerprint, dead_at, id) WHERE dead_cause IS NOT NULL;

CREATE TABLE attempts (
  id                 text COLLATE "C" NOT NULL,
  message_id         text COLLATE "C" NOT NULL,
  delivery_id        text COLLATE "C" NOT NULL,
  application_id     text COLLATE "C" NOT NULL,
  destination_id     text COLLATE "C" NOT NULL,
  event_type         text COLLATE "C" NOT NULL,
  number             integer NOT NULL,
  trigger_kind       text NOT NULL,
  url                text NOT NULL,
  started_at         bigint NOT NULL,
  duration_ms        bigint NOT NULL,
  status             integer NOT NULL,
  error              text,
  response           text NOT NULL,
  response_truncated boolean NOT NULL,
  succeeded          boolean NOT NULL,
  decision           text NOT NULL,
  PRIMARY KEY (message_id, id)
) PARTITION BY RANGE (message_id);
CREATE INDEX attempts_by_destination ON attempts (destination_id, id);
CREATE TABLE attempts_default PARTITION OF attempts DEFAULT;

-- One row per destination that has, or had, waiting work: when its earliest pending delivery is due. A parked lane is
-- in the hands of a node that knows it has more and asks for it by name. `sweep` is work that a status change left.
-- Small and rewritten all the time: half-empty pages, and vacuum after a few hundred changes.
CREATE TABLE lanes (
  destination_id text COLLATE "C" PRIMARY KEY,
  due_at         bigint,
  parked_by      bigint,
  sweep          text CHECK (sweep IN ('hold', 'unhold', 'cancel'))
) WITH (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_vacuum_threshold = 200,
  autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX lanes_due ON lanes (due_at) WHERE due_at IS NOT NULL AND parked_by IS NULL;
CREATE INDEX lanes_parked ON lanes (parked_by, due_at) WHERE parked_by IS NOT NULL;
CREATE INDEX lanes_to_sweep ON lanes (destination_id) WHERE sweep IS NOT NULL;

-- Answers kept under idempotency keys.
CREATE TABLE remembered (
  key         text COLLATE "C" PRIMARY KEY,
  fingerprint text NOT NULL,
  status      integer NOT NULL,
  body        text NOT NULL,
  expires_at  bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX remembered_by_expiry ON remembered (expires_at);

-- For people and their reports: one row per delivery that waits for a retry, and per dead letter. Times are UTC.
CREATE FUNCTION posthorn_text(bytes bytea) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN convert_from(bytes, 'UTF8');
EXCEPTION WHEN OTHERS THEN
  -- One payload that is not text must not hide all the others.
  RETURN encode(bytes, 'escape');
END $$;
CREATE FUNCTION posthorn_time(ms bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT to_char(to_timestamp(ms / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

CREATE VIEW webhook_retry_queue AS
SELECT
  d.id,
  coalesce(m.event_id, m.id) AS stripe_event_id,
  d.event_type,
  posthorn_text(m.payload) AS payload,
  greatest(d.schedule_attempts - 1, 0) AS retry_count,
  coalesce(d.max_attempts - 1, 0) AS max_retries,
  posthorn_time(d.due_at) AS next_retry_at,
  (SELECT CASE WHEN a.error IS NULL THEN 'HTTP ' || a.status ELSE a.error END || ': ' || a.response
   FROM attempts a WHERE a.message_id = d.message_id AND a.delivery_id = d.id ORDER BY a.id DESC LIMIT 1) AS last_error,
  posthorn_time(d.created_at) AS created_at,
  posthorn_time(d.updated_at) AS updated_at
FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.retry_at IS NOT NULL;

CREATE VIEW webhook_dead_letter_queue AS
SELECT
  d.id,
  coalesce(m.event_id, m.id) AS stripe_event_id,
  d.event_type,
  posthorn_text(m.payload) AS payload,
  greatest(d.schedule_attempts - 1, 0) AS retry_count,
  coalesce(
    (SELECT CASE WHEN a.error IS NULL THEN 'HTTP ' || a.status ELSE a.error END || ': ' || a.response
     FROM attempts a WHERE a.message_id = d.message_id AND a.delivery_id = d.id ORDER BY a.id DESC LIMIT 1),
    d.reason) AS error,
  posthorn_time(m.created_at) AS original_timestamp,
  posthorn_time(d.dead_at) AS created_at
FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.dead_cause IS NOT NULL;
