-- The attempt of a delivery that was handed over as it was accepted, and went well at once, in the delivery's own row
-- (first-success.ts). All filled, or none.
ALTER TABLE deliveries ADD COLUMN success_url TEXT;
ALTER TABLE deliveries ADD COLUMN success_status INTEGER;
ALTER TABLE deliveries ADD COLUMN success_ms INTEGER;
ALTER TABLE deliveries ADD COLUMN success_response TEXT;
ALTER TABLE deliveries ADD COLUMN success_truncated INTEGER;

-- due_at is NULL now for what never waited, and stays when a delivery is finished: each row is in one of these two, and
-- what has to wait after all (for a retry, an heir, because it is sent again) goes from the first to the second, never back.
-- What earlier versions finished is all in the first.
DROP INDEX deliveries_by_destination;
CREATE INDEX deliveries_direct ON deliveries (destination_id, id) WHERE due_at IS NULL;
CREATE INDEX deliveries_waited ON deliveries (destination_id, id) WHERE due_at IS NOT NULL;
