/** A lane's row: when its earliest pending delivery is due, who has it, and what a status change left to do. */

/**
 * Two CTEs for a statement that made deliveries pending: `noted` gives each of their lanes its earliest due time, and
 * `told` tells other nodes of due work. `from` names a CTE with destination_id, state and due_at.
 *
 * The upsert locks the lane's row even where it changes nothing. That is needed: a claim that finds the lane empty
 * waits for this commit and then sees what it brought; without the lock it would close the lane over it. Only a lane
 * that was not already known to be due is news: NOTIFY takes a lock over the whole server at commit. `always`: what a person
 * moves is news in any case, because behind a queue a lane may look due for seconds after its last delivery was taken.
 */
export function noteLanes(from: string, channel: string, news: string, tells: 'once' | 'always' = 'once'): string {
  const told = tells === 'once' ? 'noted' : `${from} WHERE state = 'pending'`;
  return `noted AS (
    INSERT INTO lanes AS lane (destination_id, due_at)
    SELECT destination_id, min(due_at) FROM ${from} WHERE state = 'pending' GROUP BY destination_id ORDER BY destination_id
    ON CONFLICT (destination_id) DO UPDATE SET due_at = excluded.due_at
    WHERE lane.parked_by IS NULL AND (lane.due_at IS NULL OR lane.due_at > excluded.due_at)
    RETURNING 1),
  told AS (SELECT pg_notify(${channel}, ${news}) FROM ${told} LIMIT 1)`;
}
