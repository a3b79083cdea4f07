/** recall, forget, and the write that rides in the commit of what it answers. */
import type { KeepAnswerInput, Remembered } from '../store.ts';
import { type Db, type Runner, statement } from './driver.ts';

const RECALL = statement(
  'recall',
  `SELECT key, fingerprint, status, body, expires_at AS "expiresAt" FROM remembered WHERE key = $1 AND expires_at > $2`,
);
// A key whose answer is still remembered is refused by its NULL: whoever was first keeps it.
const REMEMBER = statement(
  'remember',
  `INSERT INTO remembered (key, fingerprint, status, body, expires_at) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (key) DO UPDATE SET fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body,
    expires_at = CASE WHEN remembered.expires_at <= $6 THEN excluded.expires_at END`,
);
const KEEP = statement(
  'keep_answer',
  `INSERT INTO remembered (key, fingerprint, status, body, expires_at) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (key) DO UPDATE SET fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body,
    expires_at = excluded.expires_at
  WHERE remembered.expires_at <= $6 OR $7
  RETURNING key`,
);
const FORGET = statement(
  'forget',
  `DELETE FROM remembered WHERE expires_at <= $1 AND key = ANY(ARRAY(
    SELECT key FROM remembered WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2))`,
);

export async function recall(db: Db, input: { key: string; now: number }): Promise<Remembered | undefined> {
  const [row] = await db.all<Remembered>(RECALL, input.key, input.now);
  return row;
}

export function remember(runner: Runner, answer: Remembered, now: number): Promise<number> {
  return runner.run(REMEMBER, answer.key, answer.fingerprint, answer.status, answer.body, answer.expiresAt, now);
}

export async function keepAnswer(db: Db, input: KeepAnswerInput): Promise<Remembered | undefined> {
  const { answer, now, replaces = false } = input;
  const { key, fingerprint, status, body, expiresAt } = answer;
  const before = replaces ? await recall(db, { key, now }) : undefined;
  const written = await db.all(KEEP, key, fingerprint, status, body, expiresAt, now, replaces);
  return written.length > 0 ? before : recall(db, { key, now });
}

export async function forget(db: Db, input: { now: number; limit: number }): Promise<{ forgotten: number }> {
  return { forgotten: await db.run(FORGET, input.now, input.limit) };
}
