/** What is configured, and kept with a revision: `insert`, `get`, `list`, `update`. */
import type { Application, Endpoint, EndpointHealth, EventType, NamedPolicy, Source, Token } from '../model/index.ts';
import type { Remembered } from './accepting.ts';
import type { PageInput } from './queries.ts';

export interface RecordTypes {
  application: Application;
  source: Source;
  endpoint: Endpoint;
  eventType: EventType;
  policy: NamedPolicy;
  token: Token;
}

export type RecordKind = keyof RecordTypes;

/**
 * A record as stored. `revision` rises with every update. `health` is an endpoint's; `fanoutRevision` an application's
 * or a source's: it rises whenever one of its endpoints is added, changed, stopped, resumed or removed.
 */
export interface Stored<K extends RecordKind> {
  readonly record: RecordTypes[K];
  readonly revision: number;
  readonly health: K extends 'endpoint' ? EndpointHealth : undefined;
  readonly fanoutRevision: K extends 'application' | 'source' ? number : undefined;
}

export interface InsertInput<K extends RecordKind> {
  readonly kind: K;
  readonly record: RecordTypes[K];
  /** What an endpoint begins with; active without it. */
  readonly health?: K extends 'endpoint' ? EndpointHealth : undefined;
  readonly remember?: Remembered;
}

/**
 * By id, or by the name that is unique for its kind: an application's, source's or endpoint's uid, an event type's or policy's
 * name, a token's hash. `parentId` limits endpoints to their owner.
 */
export interface GetInput<K extends RecordKind> {
  readonly kind: K;
  readonly idOrName: string;
  readonly parentId?: string;
}

export interface ListInput<K extends RecordKind> extends PageInput {
  readonly kind: K;
  readonly parentId?: string;
}

export interface UpdateInput<K extends RecordKind> {
  readonly kind: K;
  readonly record: RecordTypes[K];
  readonly revision: number;
}
