-- Messages that were published inside their callers' own transactions: they become visible with the caller's commit, and
-- leave again with the transaction that accepts them. Empty most of the time, and rewritten all the time.
CREATE TABLE outbox (
  id             text COLLATE "C" PRIMARY KEY,
  application_id text COLLATE "C" NOT NULL,
  event_id       text COLLATE "C",
  event_type     text NOT NULL,
  channels       text,
  tags           text,
  payload        bytea NOT NULL,
  created_at     bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
