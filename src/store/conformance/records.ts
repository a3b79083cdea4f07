import { describe, expect, it } from 'vitest';
import type { EventType, NamedPolicy, Token } from '../../model/index.ts';
import { presets } from '../../policy/index.ts';
import type { Use } from './harness.ts';
import { exercisePaging } from './paging.ts';
import { ids, PLENTY, sorted, T0 } from './scene.ts';

const TIMES = { createdAt: T0, updatedAt: T0 };

function eventType(id: string, name: string): EventType {
  return { id, name, description: '', archived: false, deprecated: false, ...TIMES };
}

function token(id: string, over: Partial<Token> = {}): Token {
  return { id, name: 'ci', hash: `hash of ${id}`, scope: 'admin', ...TIMES, ...over };
}

export function exerciseRecords(use: Use): void {
  describe('insert', () => {
    it('takes no endpoint for an application that is not there', async () => {
      const { store, applicationId, newEndpoint } = bound(use());
      await store.remove({ kind: 'application', id: applicationId, now: T0 });
      const record = newEndpoint({});
      expect(await store.insert({ kind: 'endpoint', record })).toBe('missing');
      expect(await store.get({ kind: 'endpoint', idOrName: record.id })).toBeUndefined();
    });

    it('keeps every kind of record as it was given', async () => {
      const { store, applicationId, newEndpoint } = bound(use());
      const policy: NamedPolicy = {
        id: 'pol_1',
        name: 'mine',
        description: 'ours',
        policy: presets['public-api'].policy,
        ...TIMES,
      };
      const endpoint = newEndpoint({ uid: 'main', headers: { 'x-a': '1' }, eventTypes: ['a.b'], maxInFlight: 3 });
      expect(await store.insert({ kind: 'policy', record: policy })).toBe('inserted');
      expect(await store.insert({ kind: 'endpoint', record: endpoint })).toBe('inserted');
      expect(await store.insert({ kind: 'eventType', record: eventType('evtype_1', 'a.b') })).toBe('inserted');
      expect(await store.insert({ kind: 'token', record: token('tok_1', { applicationId }) })).toBe('inserted');
      expect((await store.get({ kind: 'policy', idOrName: 'mine' }))?.record).toEqual(policy);
      expect((await store.get({ kind: 'eventType', idOrName: 'a.b' }))?.record).toEqual(eventType('evtype_1', 'a.b'));
      expect((await store.get({ kind: 'token', idOrName: 'hash of tok_1' }))?.record.applicationId).toBe(applicationId);
      expect(await store.get({ kind: 'endpoint', idOrName: endpoint.id })).toEqual({
        record: endpoint,
        revision: 1,
        health: { status: 'active', reason: '', failureCount: 0 },
        fanoutRevision: undefined,
      });
    });

    it('refuses an id or a name that is taken, and changes nothing', async () => {
      const { store } = use();
      await store.insert({ kind: 'eventType', record: eventType('evtype_1', 'a') });
      expect(await store.insert({ kind: 'eventType', record: eventType('evtype_2', 'a') })).toBe('conflict');
      expect(await store.insert({ kind: 'eventType', record: eventType('evtype_1', 'b') })).toBe('conflict');
      expect((await store.list({ kind: 'eventType', limit: PLENTY, order: 'ascending' })).items).toHaveLength(1);
    });

    it('an endpoint uid is unique in its application only, and any number go without', async () => {
      const scene = use();
      const other = await scene.application();
      const insert = (over: object) => scene.store.insert({ kind: 'endpoint', record: scene.newEndpoint(over) });
      expect(await insert({ uid: 'main' })).toBe('inserted');
      expect(await insert({ uid: 'main' })).toBe('conflict');
      expect(await insert({ uid: 'main', applicationId: other })).toBe('inserted');
      expect(await insert({})).toBe('inserted');
      expect(await insert({})).toBe('inserted');
    });

    it('a new endpoint changes the fan-out of its application; a refused one does not', async () => {
      const scene = use();
      const before = await scene.fanoutRevision();
      const id = await scene.endpoint();
      expect(await scene.fanoutRevision()).toBe(before + 1);
      await scene.store.insert({ kind: 'endpoint', record: scene.newEndpoint({ id }) });
      expect(await scene.fanoutRevision()).toBe(before + 1);
    });
  });

  describe('get', () => {
    it('finds by id or by uid, within the parent that is named', async () => {
      const scene = use();
      const other = await scene.application({ uid: 'customer-2' });
      const mine = await scene.endpoint({ uid: 'main' });
      const theirs = await scene.endpoint({ uid: 'main', applicationId: other });
      const find = async (idOrName: string, parentId: string) =>
        (await scene.store.get({ kind: 'endpoint', idOrName, parentId }))?.record.id;
      expect(await find('main', scene.applicationId)).toBe(mine);
      expect(await find('main', other)).toBe(theirs);
      expect(await find(mine, scene.applicationId)).toBe(mine);
      expect(await find(mine, other)).toBeUndefined();
      expect((await scene.store.get({ kind: 'application', idOrName: 'customer-2' }))?.record.id).toBe(other);
      expect(await scene.store.get({ kind: 'application', idOrName: 'nobody' })).toBeUndefined();
    });

    it('an id goes before a uid that looks the same', async () => {
      const scene = use();
      await scene.application({ id: 'app_0', uid: scene.applicationId });
      const found = await scene.store.get({ kind: 'application', idOrName: scene.applicationId });
      expect(found?.record.id).toBe(scene.applicationId);
    });
  });

  describe('update', () => {
    it('replaces a record, raises its revision, and keeps the health', async () => {
      const scene = use();
      const record = scene.newEndpoint();
      await scene.store.insert({ kind: 'endpoint', record });
      await scene.store.setStatus({ endpointId: record.id, status: 'paused', reason: 'by hand', now: T0 });
      const changed = { ...record, url: 'https://new.example/', uid: 'new' };
      expect(await scene.store.update({ kind: 'endpoint', record: changed, revision: 1 })).toBe('updated');
      expect(await scene.store.get({ kind: 'endpoint', idOrName: 'new' })).toMatchObject({
        record: changed,
        revision: 2,
        health: { status: 'paused', reason: 'by hand' },
      });
    });

    it('refuses an update of an older revision: nobody overwrites what they have not seen', async () => {
      const { store } = use();
      const record = eventType('evtype_1', 'a');
      await store.insert({ kind: 'eventType', record });
      const outcomes = await Promise.all(
        ['x', 'y'].map((description) =>
          store.update({ kind: 'eventType', record: { ...record, description }, revision: 1 }),
        ),
      );
      expect(sorted(outcomes)).toEqual(['stale', 'updated']);
      expect((await store.get({ kind: 'eventType', idOrName: 'a' }))?.revision).toBe(2);
    });

    it('refuses a uid that another one has, and changes nothing', async () => {
      const scene = use();
      await scene.endpoint({ uid: 'taken' });
      const record = scene.newEndpoint({ uid: 'mine' });
      await scene.store.insert({ kind: 'endpoint', record });
      const before = await scene.fanoutRevision();
      expect(await scene.store.update({ kind: 'endpoint', record: { ...record, uid: 'taken' }, revision: 1 })).toBe(
        'conflict',
      );
      expect(await scene.store.get({ kind: 'endpoint', idOrName: record.id })).toMatchObject({ record, revision: 1 });
      expect(await scene.fanoutRevision()).toBe(before);
    });

    it('says missing for what is not there', async () => {
      const record = eventType('evtype_none', 'none');
      expect(await use().store.update({ kind: 'eventType', record, revision: 1 })).toBe('missing');
    });

    it('a changed endpoint changes the fan-out of its application', async () => {
      const scene = use();
      const record = scene.newEndpoint();
      await scene.store.insert({ kind: 'endpoint', record });
      const before = await scene.fanoutRevision();
      await scene.store.update({ kind: 'endpoint', record: { ...record, eventTypes: ['x'] }, revision: 1 });
      expect(await scene.fanoutRevision()).toBe(before + 1);
    });
  });

  describe('remove', () => {
    it('removes a record once, and frees its uid', async () => {
      const scene = use();
      const id = await scene.endpoint({ uid: 'main' });
      const before = await scene.fanoutRevision();
      expect(await scene.store.remove({ kind: 'endpoint', id, now: T0 })).toBe(true);
      expect(await scene.store.remove({ kind: 'endpoint', id, now: T0 })).toBe(false);
      expect(await scene.store.get({ kind: 'endpoint', idOrName: id })).toBeUndefined();
      expect(await scene.fanoutRevision()).toBe(before + 1);
      const record = scene.newEndpoint({ uid: 'main' });
      expect(await scene.store.insert({ kind: 'endpoint', record })).toBe('inserted');
    });

    it('an application goes with its endpoints, their open deliveries and its tokens', async () => {
      const scene = use();
      const other = await scene.application();
      const kept = await scene.endpoint({ applicationId: other });
      const to = await scene.endpoints(2);
      const stored = await scene.publish({ to });
      await scene.store.insert({ kind: 'token', record: token('tok_1', { applicationId: scene.applicationId }) });
      await scene.store.insert({ kind: 'token', record: token('tok_2') });
      await scene.store.remove({ kind: 'application', id: scene.applicationId, now: T0 });
      await scene.sweepAll();
      expect(await scene.states(stored)).toEqual(['cancelled', 'cancelled']);
      const endpoints = await scene.store.list({ kind: 'endpoint', limit: PLENTY, order: 'ascending' });
      expect(ids(endpoints.items.map(({ record }) => record))).toEqual([kept]);
      const tokens = await scene.store.list({ kind: 'token', limit: PLENTY, order: 'ascending' });
      expect(ids(tokens.items.map(({ record }) => record))).toEqual(['tok_2']);
    });
  });

  describe('list', () => {
    it('lists endpoints of one application only, when it is named', async () => {
      const scene = use();
      const other = await scene.application();
      const mine = await scene.endpoints(2);
      await scene.endpoint({ applicationId: other });
      const page = await scene.store.list({
        kind: 'endpoint',
        parentId: scene.applicationId,
        limit: 9,
        order: 'ascending',
      });
      expect(page.items.map(({ record }) => record.id)).toEqual(mine);
      expect(page.items[0]?.health.status).toBe('active');
    });

    exercisePaging('event types, by name', use, async ({ store }) => {
      for (const name of ['c', 'a', 'e', 'b', 'd']) {
        await store.insert({ kind: 'eventType', record: eventType(`evtype_${name}`, name) });
      }
      return {
        keys: ['a', 'b', 'c', 'd', 'e'],
        page: async (input) => {
          const page = await store.list({ kind: 'eventType', ...input });
          return { keys: page.items.map(({ record }) => record.name), done: page.done };
        },
      };
    });

    exercisePaging('endpoints, by id', use, async (scene) => {
      const keys = await scene.endpoints(5);
      return {
        keys,
        page: async (input) => {
          const page = await scene.store.list({ kind: 'endpoint', parentId: scene.applicationId, ...input });
          return { keys: page.items.map(({ record }) => record.id), done: page.done };
        },
      };
    });
  });
}

/** A scene whose words can be taken apart. */
function bound(scene: ReturnType<Use>) {
  return {
    store: scene.store,
    applicationId: scene.applicationId,
    newEndpoint: scene.newEndpoint.bind(scene),
  };
}
