/**
 * Advisory locks on applications and nodes. They cost no write to a row that every transaction touches, and they queue
 * fairly: a change of an endpoint gets its turn however many accepts are under way, which row locks do not promise.
 *
 * The order in which everything is locked, so that no two transactions wait for each other: node, endpoint rows by id,
 * application, lane rows by destination, deliveries.
 */
import type { Db } from './driver.ts';

type Lockable = { readonly kind: 'node'; readonly id: number } | { readonly kind: 'application'; readonly id: string };

/** First key of all our advisory locks, to stay clear of those of other programs in the same database. */
const CLASS = 0x70_68_6f_72;

/** Shared: the fan-out of these applications stays as it is, this node is not taken over from, until the commit. */
export function share(db: Db, ...what: readonly Lockable[]): string {
  return keysOf(db, what)
    .map((key) => `pg_advisory_xact_lock_shared(${CLASS}, ${key})`)
    .join(', ');
}

/** Exclusive: waits for every transaction that shares it. */
export function exclude(db: Db, ...what: readonly Lockable[]): string {
  return keysOf(db, what)
    .map((key) => `pg_advisory_xact_lock(${CLASS}, ${key})`)
    .join(', ');
}

/** Whole numbers, safe to write into SQL. Two things with the same key wait for each other now and then, no more. */
function keysOf(db: Db, what: readonly Lockable[]): number[] {
  const keys = what.map(({ kind, id }) => ({ kind, key: hash(`${db.schema}/${kind}/${id}`) }));
  keys.sort((a, b) => Number(a.kind !== 'node') - Number(b.kind !== 'node') || a.key - b.key);
  return [...new Set(keys.map(({ key }) => key))];
}

/** FNV-1a, as a signed 32-bit number. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value | 0;
}
