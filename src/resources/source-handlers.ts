/** The handlers of sources, as the store knows them: endpoints without a URL, which functions of processes stand for. */
import { type Endpoint, HEALTHY } from '../model/index.ts';
import type { Stored } from '../store/index.ts';
import type { Context } from './context.ts';
import { missing } from './missing.ts';
import { checkPolicyRef, type PolicyInput } from './policy-refs.ts';

export interface HandlerInput {
  /** Unique in the source; what the handler is known by when the process starts again. */
  readonly name: string;
  /** Undefined: all. */
  readonly eventTypes?: readonly string[] | undefined;
  readonly policy?: PolicyInput | undefined;
}

export interface HandlerView {
  readonly id: string;
  readonly name: string;
}

export interface SourceHandlers {
  /**
   * Makes the handler of this name be as described; writes nothing when it is so already. Answers its id, under which its
   * deliveries are.
   */
  declareHandler(sourceId: string, input: HandlerInput): Promise<string>;
  /** All that any process ever declared and nobody removed. */
  listHandlers(idOrUid: string): Promise<readonly HandlerView[]>;
  /** Its open deliveries are cancelled: for a handler that no process will have again. */
  removeHandler(idOrUid: string, name: string): Promise<void>;
}

/** What a handler's uid begins with; its name follows. */
const HANDLER_UID = 'handler:';

export function createSourceHandlers(
  { store, engine, clock, ids }: Context,
  findSource: (idOrUid: string) => Promise<Stored<'source'>>,
): SourceHandlers {
  return {
    async declareHandler(sourceId, { name, eventTypes, policy }) {
      const uid = `${HANDLER_UID}${name}`;
      const described = {
        url: `handler:${encodeURIComponent(name)}`,
        description: `the handler "${name}"`,
        ...(eventTypes !== undefined && { eventTypes }),
        ...(policy !== undefined && { policy: await checkPolicyRef(store, policy, ['body', 'policy']) }),
      };
      for (;;) {
        const existing = await store.get({ kind: 'endpoint', idOrName: uid, parentId: sourceId });
        const now = clock.now();
        if (existing === undefined) {
          const rest = { version: 1, metadata: {}, headers: {}, secrets: [], createdAt: now, updatedAt: now };
          const record: Endpoint = { id: ids.next('hdl'), applicationId: sourceId, uid, ...described, ...rest };
          const result = await store.insert({ kind: 'endpoint', record, health: HEALTHY });
          if (result === 'missing') throw missing('source', sourceId);
          engine.changed(sourceId);
          if (result === 'inserted') return record.id;
          continue;
        }
        const { eventTypes: _, policy: __, ...base } = existing.record;
        const record: Endpoint = { ...base, ...described, updatedAt: now };
        if (sameFields({ ...record, updatedAt: 0 }, { ...existing.record, updatedAt: 0 })) return record.id;
        const result = await store.update({ kind: 'endpoint', record, revision: existing.revision });
        engine.changed(sourceId);
        if (result === 'updated') return record.id;
      }
    },

    async listHandlers(idOrUid) {
      const { record } = await findSource(idOrUid);
      const found: HandlerView[] = [];
      let key: string | undefined;
      for (;;) {
        const cursor = key === undefined ? {} : { cursor: { key, direction: 'forward' as const } };
        const page = { kind: 'endpoint' as const, parentId: record.id, limit: 200, order: 'ascending' as const };
        const { items, done } = await store.list({ ...page, ...cursor });
        for (const { record: each } of items) {
          if (each.uid?.startsWith(HANDLER_UID)) found.push({ id: each.id, name: each.uid.slice(HANDLER_UID.length) });
        }
        key = items.at(-1)?.record.id;
        if (done || key === undefined) return found;
      }
    },

    async removeHandler(idOrUid, name) {
      const { record } = await findSource(idOrUid);
      const handler = await store.get({ kind: 'endpoint', idOrName: `${HANDLER_UID}${name}`, parentId: record.id });
      if (handler === undefined) throw missing('handler', name);
      await store.remove({ kind: 'endpoint', id: handler.record.id, now: clock.now() });
      engine.changed(record.id);
      engine.wake();
    },
  };
}

/** By value, whatever the order of the keys. */
export function sameFields(a: object, b: object): boolean {
  const sorted = (value: object) => JSON.stringify(Object.entries(value).sort(([x], [y]) => (x < y ? -1 : 1)));
  return sorted(a) === sorted(b);
}
