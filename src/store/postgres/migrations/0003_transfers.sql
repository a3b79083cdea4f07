-- A move of another store into this schema. While it is not finished no node joins: what it would find is half of it.
CREATE TABLE transfers (
  fingerprint text COLLATE "C" PRIMARY KEY,
  started_at  bigint NOT NULL,
  finished_at bigint
);

-- How far it is, written in the transactions that bring the rows.
CREATE TABLE transfer_progress (
  table_name text COLLATE "C" PRIMARY KEY,
  rows       bigint NOT NULL,
  last_key   text[] NOT NULL
);
