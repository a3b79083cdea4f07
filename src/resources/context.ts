import type { Clock } from '../clock.ts';
import type { Engine } from '../engine/index.ts';
import type { Ids } from '../ids.ts';
import type { Policy, PolicyRef } from '../model/index.ts';
import type { AddressGuard } from '../outbound/index.ts';
import type { SecretBox } from '../signing/index.ts';
import type { Enqueue, Remembered, Store } from '../store/index.ts';

/** What every resource works with. */
export interface Context {
  readonly store: Store;
  readonly engine: Pick<Engine, 'changed' | 'wake' | 'publish'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly guard: AddressGuard;
  readonly secretBox: SecretBox;
  /** What an endpoint follows when neither it nor its application names a policy. */
  readonly defaultPolicy: PolicyRef;
  /** The presets as the configuration has them; as they are in policy/ without it. */
  readonly preset?: (name: string) => Policy | undefined;
  /** Publishes inside a caller's own transaction, where the store is a database that callers share. */
  readonly enqueue?: Enqueue;
  /** The admin token of the configuration: checked by this node, kept nowhere. */
  readonly adminToken?: string;
  /** The largest payload that is taken, in bytes; 2 MiB without it. */
  readonly maxPayloadBytes?: number;
}

/** The answer to keep under an idempotency key, made from what is about to be written and written with it. */
export type Remember<T> = (made: T) => Remembered;

/** What an upsert or a get-or-create came to. */
export interface Made<T> {
  readonly record: T;
  readonly created: boolean;
}
