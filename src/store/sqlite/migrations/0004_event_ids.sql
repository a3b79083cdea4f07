-- The ids of received events whose message is gone: a copy that comes late is still a copy.
CREATE TABLE event_ids (
  application_id TEXT NOT NULL,
  event_id       TEXT NOT NULL,
  message_id     TEXT NOT NULL,
  received_at    INTEGER NOT NULL,
  PRIMARY KEY (application_id, event_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_ids_by_time ON event_ids (received_at);
