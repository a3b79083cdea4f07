/** recall, forget, and the write that rides in the commit of what it answers. */
import type { KeepAnswerInput, Remembered } from '../store.ts';
import type { Db } from './driver.ts';

const RECALL =
  'SELECT key, fingerprint, status, body, expires_at AS expiresAt FROM remembered WHERE key = ? AND expires_at > ?';
const REMEMBER =
  'INSERT OR REPLACE INTO remembered (key, fingerprint, status, body, expires_at) VALUES (?, ?, ?, ?, ?)';
const FORGET =
  'DELETE FROM remembered WHERE key IN (SELECT key FROM remembered WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)';

export function recall(db: Db, input: { key: string; now: number }): Remembered | undefined {
  return db.get<Remembered>(RECALL, input.key, input.now);
}

export function remember(db: Db, answer: Remembered): void {
  db.run(REMEMBER, answer.key, answer.fingerprint, answer.status, answer.body, answer.expiresAt);
}

export function keepAnswer(db: Db, { answer, now, replaces = false }: KeepAnswerInput): Remembered | undefined {
  const kept = recall(db, { key: answer.key, now });
  if (kept === undefined || replaces) remember(db, answer);
  return kept;
}

export function forget(db: Db, input: { now: number; limit: number }): { forgotten: number } {
  return { forgotten: db.run(FORGET, input.now, input.limit) };
}
