-- How far duties have come that are done once for each span of time.
CREATE TABLE upkeep (
  name    text PRIMARY KEY,
  done_to bigint NOT NULL
);
