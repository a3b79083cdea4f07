// An outbox by hand, as well as it can be written: bulk inserts, claims with FOR UPDATE SKIP LOCKED, completes in batches.
import pg from 'pg';
import { payload } from '../event.mjs';
import { batched } from './batched.mjs';
import { openUndici } from './post.mjs';
import { workAhead } from './work-ahead.mjs';

const SCHEMA = `
  CREATE TABLE outbox (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    delivery_id text NOT NULL UNIQUE,
    url text NOT NULL,
    payload json NOT NULL,
    state text NOT NULL DEFAULT 'pending',
    attempts int NOT NULL DEFAULT 0,
    due_at timestamptz NOT NULL DEFAULT now(),
    locked_until timestamptz,
    status int,
    created_at timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz
  );
  CREATE INDEX outbox_due ON outbox (due_at, id) WHERE state = 'pending';
`;
const INSERT = `
  INSERT INTO outbox (delivery_id, url, payload)
  SELECT * FROM unnest($1::text[], $2::text[], $3::json[])
`;
/** A worker that dies leaves \`working\` rows behind; what finds those again after \`locked_until\` is not in the race. */
const CLAIM = `
  UPDATE outbox SET state = 'working', attempts = attempts + 1, locked_until = now() + interval '1 minute'
  WHERE id IN (
    SELECT id FROM outbox WHERE state = 'pending' AND due_at <= now()
    ORDER BY due_at, id LIMIT $1 FOR UPDATE SKIP LOCKED
  )
  RETURNING id, delivery_id AS "deliveryId", payload
`;
const COMPLETE = `
  UPDATE outbox SET state = 'delivered', status = done.status, locked_until = NULL, finished_at = now()
  FROM unnest($1::bigint[], $2::int[]) AS done (id, status)
  WHERE outbox.id = done.id
`;

export async function open({ postgresUrl, url, onRecorded, onTrouble }) {
  const undici = openUndici(url);
  const pool = new pg.Pool({ connectionString: postgresUrl, max: 10 });
  pool.on('error', (error) => onTrouble(`the pool is in trouble: ${error.message}`));
  await pool.query(SCHEMA);
  const insert = batched((rows) =>
    query('insert', INSERT, [rows.map(({ id }) => id), rows.map(() => url), rows.map(({ json }) => json)]),
  );
  const complete = batched((rows) =>
    query('complete', COMPLETE, [rows.map(({ id }) => id), rows.map(({ status }) => status)]),
  );
  const worker = workAhead({
    fetch: async (most) => (await query('claim', CLAIM, [most])).rows,
    async work(job) {
      const status = await undici.post(job);
      await complete({ id: job.id, status });
      onRecorded();
    },
    onTrouble,
  });

  /** With a name the statement is parsed and planned once for each connection. */
  function query(name, text, values) {
    return pool.query({ name, text, values });
  }

  return {
    async publish(deliveryId) {
      await insert({ id: deliveryId, json: JSON.stringify(payload) });
      worker.wake();
      return deliveryId;
    },
    async close() {
      await worker.stop();
      await pool.end();
      await undici.close();
    },
  };
}
