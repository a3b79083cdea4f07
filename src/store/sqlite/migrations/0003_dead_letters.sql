-- What a dead letter died of, beside the row: groups go by it. NULL on everything that is not dead.
ALTER TABLE deliveries ADD COLUMN fingerprint TEXT;
ALTER TABLE deliveries ADD COLUMN last_error TEXT;
UPDATE deliveries SET fingerprint = 'unknown', last_error = reason WHERE state = 'dead';

-- A group is a range of this index: the first and the last of it are its ends.
CREATE INDEX deliveries_dead_groups ON deliveries (application_id, event_type, fingerprint, dead_at, id) WHERE state = 'dead';
