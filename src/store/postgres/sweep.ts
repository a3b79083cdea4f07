import { type Db, statement } from './driver.ts';
import { noteLanes } from './lanes.ts';
import { writeNews } from './news.ts';

type Sweep = 'hold' | 'unhold' | 'cancel';

const ANY_LANE = statement('any_lane_to_sweep', 'SELECT 1 FROM lanes WHERE sweep IS NOT NULL LIMIT 1');
const NEXT_LANE = statement(
  'next_lane_to_sweep',
  'SELECT destination_id, sweep FROM lanes WHERE sweep IS NOT NULL ORDER BY destination_id LIMIT 1 FOR UPDATE SKIP LOCKED',
);
const DONE = statement('sweep_done', 'UPDATE lanes SET sweep = NULL WHERE destination_id = $1');
// Nothing is accepted, tried or sent again for a deleted endpoint: its lane cannot come back.
const GONE = statement('sweep_gone', 'DELETE FROM lanes WHERE destination_id = $1');

function chunk(name: Sweep, set: string, from: string, chosen: string) {
  return statement(
    `sweep_${name}`,
    `WITH moved AS (
      UPDATE deliveries SET updated_at = $3, ${set}
      WHERE state IN (${from}) AND id = ANY(ARRAY(${chosen}))
      RETURNING destination_id, state, due_at),
    ${noteLanes('moved', '$4', '$5', 'always')}
    SELECT count(*) AS moved FROM moved LEFT JOIN told ON true`,
  );
}

const CHUNKS = {
  hold: chunk(
    'hold',
    "state = 'held', reason = 'held: its endpoint is stopped'",
    "'pending'",
    'SELECT id FROM deliveries WHERE destination_id = $1 AND queued_at IS NOT NULL ORDER BY queued_at, id LIMIT $2',
  ),
  unhold: chunk(
    'unhold',
    "state = 'pending', due_at = coalesce(due_at, created_at), reason = 'released: its endpoint is active again'",
    "'held'",
    'SELECT id FROM deliveries WHERE destination_id = $1 AND is_held ORDER BY id LIMIT $2',
  ),
  cancel: chunk(
    'cancel',
    "state = 'cancelled', reason = 'its endpoint was deleted'",
    "'pending', 'held'",
    `SELECT id FROM deliveries WHERE destination_id = $1 AND queued_at IS NOT NULL
    UNION ALL SELECT id FROM deliveries WHERE destination_id = $1 AND is_held LIMIT $2`,
  ),
} as const;

export async function sweep(
  db: Db,
  input: { now: number; limit: number },
): Promise<{ idle: boolean; destinationId?: string; moved: number }> {
  // Asked at every beat, and nearly always for nothing.
  if ((await db.all(ANY_LANE)).length === 0) return { idle: true, moved: 0 };
  return db.transaction(async (tx) => {
    const [lane] = await tx.all<{ destination_id: string; sweep: Sweep }>(NEXT_LANE);
    if (lane === undefined) return { idle: true, moved: 0 };
    const { destination_id: destinationId } = lane;
    const news = writeNews(db.teller, { work: 'unqueued' });
    const [row] = await tx.all<{ moved: number }>(
      CHUNKS[lane.sweep],
      destinationId,
      input.limit,
      input.now,
      db.channel,
      news,
    );
    const moved = row?.moved ?? 0;
    if (moved < input.limit)
      await Promise.all([tx.run(lane.sweep === 'cancel' ? GONE : DONE, destinationId), tx.commit()]);
    return { idle: false, destinationId, moved };
  });
}
