-- The two views that people query by hand, with times to compare with now() and payloads to look into.

-- Not PARALLEL SAFE: exceptions are subtransactions, which no parallel query may begin. And it calls nothing of this
-- schema: whoever reads the views has another search_path.
CREATE FUNCTION posthorn_json(bytes bytea) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE PARALLEL UNSAFE AS $$
BEGIN
  RETURN convert_from(bytes, 'UTF8')::jsonb;
EXCEPTION WHEN OTHERS THEN
  -- A form, or what jsonb does not hold (\u0000), as a string: one of them must not hide all the others.
  BEGIN
    RETURN to_jsonb(convert_from(bytes, 'UTF8'));
  EXCEPTION WHEN OTHERS THEN
    RETURN to_jsonb(encode(bytes, 'escape'));
  END;
END $$;

-- No view can change the types of its columns: new ones take the names, and the grants, of those that were there.
ALTER VIEW webhook_retry_queue RENAME TO webhook_retry_queue_before;
ALTER VIEW webhook_dead_letter_queue RENAME TO webhook_dead_letter_queue_before;

CREATE VIEW webhook_retry_queue AS
SELECT
  d.id,
  coalesce(m.event_id, m.id) AS stripe_event_id,
  d.event_type,
  posthorn_json(m.payload) AS payload,
  greatest(d.schedule_attempts - 1, 0) AS retry_count,
  coalesce(d.max_attempts - 1, 0) AS max_retries,
  to_timestamp(d.due_at / 1000.0) AS next_retry_at,
  (SELECT CASE WHEN a.error IS NULL THEN 'HTTP ' || a.status ELSE a.error END || ': ' || a.response
   FROM attempts a WHERE a.message_id = d.message_id AND a.delivery_id = d.id ORDER BY a.id DESC LIMIT 1) AS last_error,
  to_timestamp(d.created_at / 1000.0) AS created_at,
  to_timestamp(d.updated_at / 1000.0) AS updated_at
FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.retry_at IS NOT NULL;

CREATE VIEW webhook_dead_letter_queue AS
SELECT
  d.id,
  coalesce(m.event_id, m.id) AS stripe_event_id,
  d.event_type,
  posthorn_json(m.payload) AS payload,
  greatest(d.schedule_attempts - 1, 0) AS retry_count,
  coalesce(
    (SELECT CASE WHEN a.error IS NULL THEN 'HTTP ' || a.status ELSE a.error END || ': ' || a.response
     FROM attempts a WHERE a.message_id = d.message_id AND a.delivery_id = d.id ORDER BY a.id DESC LIMIT 1),
    d.reason) AS error,
  to_timestamp(m.created_at / 1000.0) AS original_timestamp,
  to_timestamp(d.dead_at / 1000.0) AS created_at
FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.dead_cause IS NOT NULL;

DO $$
DECLARE given record;
BEGIN
  FOR given IN
    SELECT replace(c.relname, '_before', '') AS view, a.privilege_type AS privilege, a.is_grantable AS passes_on,
      CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS reader
    FROM pg_class c, aclexplode(c.relacl) a
    WHERE c.oid IN ('webhook_retry_queue_before'::regclass, 'webhook_dead_letter_queue_before'::regclass)
      AND a.grantee <> c.relowner
  LOOP
    EXECUTE format('GRANT %s ON %I TO %s', given.privilege, given.view, given.reader)
      || CASE WHEN given.passes_on THEN ' WITH GRANT OPTION' ELSE '' END;
  END LOOP;
END $$;
DROP VIEW webhook_retry_queue_before, webhook_dead_letter_queue_before;
DROP FUNCTION posthorn_time(bigint), posthorn_text(bytea);
