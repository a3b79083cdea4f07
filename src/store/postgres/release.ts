import { type Db, statement } from './driver.ts';
import { noteLanes } from './lanes.ts';
import { writeNews } from './news.ts';
import { LOCK_ENDPOINTS_OF } from './set-status.ts';

const RELEASE = statement(
  'release',
  `WITH wanted AS MATERIALIZED (
    SELECT d.id, CASE WHEN e.id IS NULL THEN 'cancelled' WHEN e.status = 'active' THEN 'pending' ELSE 'held' END AS state
    FROM deliveries d LEFT JOIN endpoints e ON e.id = d.destination_id WHERE d.id = ANY($1::text[])),
  released AS (
    UPDATE deliveries d SET state = w.state, lease_epoch = NULL, updated_at = $3,
      due_at = CASE WHEN w.state <> 'cancelled' THEN $3::bigint ELSE d.due_at END
    FROM wanted w WHERE d.id = w.id AND d.state = 'leased' AND d.lease_epoch = $2
    RETURNING d.destination_id, d.state, d.due_at),
  ${noteLanes('released', '$4', '$5')}
  SELECT count(*) FROM released LEFT JOIN told ON true`,
);

export async function release(db: Db, input: { epoch: number; now: number; ids: readonly string[] }): Promise<void> {
  if (input.ids.length === 0) return;
  await db.transaction(async (tx) => {
    const news = writeNews(db.teller, { work: true });
    await Promise.all([
      tx.all(LOCK_ENDPOINTS_OF, input.ids),
      tx.all(RELEASE, input.ids, input.epoch, input.now, db.channel, news),
      tx.commit(),
    ]);
  });
}
