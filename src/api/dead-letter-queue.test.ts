/** Groups, search, parts, archives and reports of dead letters, over the API. */
import { describe, expect, it } from 'vitest';
import { type DeliveryRig, openDeliveryRig } from './testing/delivery-rig.ts';

/** Dead letters of two errors: two of one, one of another, and one of another event type. */
async function openWithGroups(): Promise<DeliveryRig> {
  const rig = await openDeliveryRig();
  await rig.endpoint({ uid: 'ep' });
  await dieOf(rig, 500, 'order 1 is broken', { eventId: 'evt-1' });
  await dieOf(rig, 500, 'order 2 is broken');
  await dieOf(rig, 503, 'come back at 10:15:00');
  await dieOf(rig, 500, 'order 3 is broken', { eventType: 'order.new' });
  return rig;
}

const tries = new WeakMap<DeliveryRig, number>();

async function dieOf(rig: DeliveryRig, status: number, body: string, fields: object = {}): Promise<void> {
  rig.receiver.answer(status, body);
  await rig.publish({ eventType: 'order.paid', ...fields });
  tries.set(rig, (tries.get(rig) ?? 0) + 2);
  await rig.attempts(tries.get(rig) ?? 0);
}

const groupsOf = async (rig: DeliveryRig, query = '') => (await rig.call('GET', `dead-letter/group?${query}`)).body;
const dead = async (rig: DeliveryRig, query = '') => (await rig.call('GET', `dead-letter?${query}`)).body.data;

async function archiveOf(rig: DeliveryRig, query = '', token = rig.token): Promise<string> {
  const url = `/api/v1/dead-letter/archive?${query}`;
  const answer = await rig.server.inject({ method: 'GET', url, headers: { authorization: `Bearer ${token}` } });
  expect(answer.headers['content-type']).toContain('application/x-ndjson');
  return answer.body;
}

async function restore(rig: DeliveryRig, payload: string, token = rig.token) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' };
  const answer = await rig.server.inject({ method: 'POST', url: '/api/v1/dead-letter/restore', headers, payload });
  return { status: answer.statusCode, body: answer.json() };
}

describe('groups of dead letters', () => {
  it('PAY-09 put together what failed alike, with count, first and last seen and an example', async () => {
    await using rig = await openWithGroups();
    const { data, done } = await groupsOf(rig);
    expect(done).toBe(true);
    expect(data.map((each: { eventType: string; count: number }) => [each.eventType, each.count]).toSorted()).toEqual([
      ['order.new', 1],
      ['order.paid', 1],
      ['order.paid', 2],
    ]);
    const two = data.find(({ count }: { count: number }) => count === 2);
    expect(two).toMatchObject({ error: 'HTTP 500: order 2 is broken', countIsCapped: false });
    expect(two.firstAt < two.lastAt).toBe(true);
    expect((await rig.call('GET', `dead-letter/${two.exampleId}`)).body.fingerprint).toBe(two.fingerprint);
    expect(await dead(rig, `group=${encodeURIComponent(two.id)}`)).toHaveLength(2);
    expect(await dead(rig, `fingerprint=${two.fingerprint}`)).toHaveLength(3);
  });

  it('are paged, and narrowed by owner and by time of death', async () => {
    await using rig = await openWithGroups();
    const first = await groupsOf(rig, 'limit=2');
    const rest = await groupsOf(rig, `limit=2&iterator=${encodeURIComponent(first.iterator)}`);
    expect([first.data.length, first.done, rest.data.length, rest.done]).toEqual([2, false, 1, true]);
    expect((await groupsOf(rig, 'application=acme')).data).toHaveLength(3);
    expect((await groupsOf(rig, 'died_before=2020-01-01T00:00:00Z')).data).toEqual([]);
    expect((await rig.call('GET', 'dead-letter/group?source=stripe')).status).toBe(404);
    expect((await rig.call('GET', 'dead-letter/group?iterator=nonsense')).status).toBe(422);
  });

  it('SUB-11 are fixed and replayed in one go, in parts, each match once', async () => {
    await using rig = await openWithGroups();
    const group = (await groupsOf(rig)).data.find(({ count }: { count: number }) => count === 2).id;
    rig.receiver.answer(200);
    const first = (await rig.call('POST', 'dead-letter/retry', { group, limit: 1 })).body;
    expect(first).toMatchObject({ count: 1, skipped: 0, done: false });
    const { iterator } = first;
    const second = (await rig.call('POST', 'dead-letter/retry', { group, limit: 1, iterator })).body;
    expect(second).toEqual({ count: 1, skipped: 0, withoutEndpoint: 0, notDead: [], done: true, iterator: null });
    await rig.attempts(10);
    expect(await dead(rig)).toHaveLength(2);
  });

  it('are given up as one, with a reason', async () => {
    await using rig = await openWithGroups();
    const group = (await groupsOf(rig)).data.find(({ count }: { count: number }) => count === 2).id;
    const answer = await rig.call('POST', 'dead-letter/discard', { filter: { group }, reason: 'test data' });
    expect(answer.body).toMatchObject({ count: 2, done: true });
    expect(await dead(rig)).toHaveLength(2);
    expect((await rig.call('GET', 'delivery?state=cancelled')).body.data[0].reason).toContain('test data');
  });
});

describe('a filter with nothing in it', () => {
  it('ALL-06 selects nothing: lists, groups and archives refuse it as retry and discard do', async () => {
    await using rig = await openWithGroups();
    const empty = ['error', 'fingerprint', 'endpoint', 'message', 'group', 'application', 'source', 'event_types'];
    const queries = [
      ...empty.flatMap((name) => [`${name}=`, `${name}=%20`]),
      ...['event_types=,', 'event_types[]=', 'died_after=', 'died_after=7', 'died_before=2026-02-31', 'after=2027'],
    ];
    for (const query of queries) {
      for (const list of ['dead-letter', 'dead-letter/archive']) {
        expect([query, (await rig.call('GET', `${list}?${query}`)).status]).toEqual([query, 422]);
      }
    }
    for (const query of ['application=', 'source=', 'died_after=7', 'died_before=']) {
      expect([query, (await rig.call('GET', `dead-letter/group?${query}`)).status]).toEqual([query, 422]);
    }
    const selections = [
      ...['error', 'fingerprint', 'endpoint', 'message', 'group', 'application', 'source'].map((name) => ({
        [name]: '',
      })),
      ...[
        { error: '  ' },
        { eventTypes: [] },
        { eventTypes: [''] },
        { eventTypes: ['order.paid', ' '] },
        { ids: [''] },
      ],
      ...[{ diedAfter: '7' }, { diedAfter: '' }, { diedBefore: '2027' }, { before: '2026-02-31' }, { after: 'monday' }],
    ];
    for (const filter of selections) {
      const discarded = await rig.call('POST', 'dead-letter/discard', { filter, reason: 'x' });
      const retried = await rig.call('POST', 'dead-letter/retry', filter);
      expect([filter, discarded.status, retried.status]).toEqual([filter, 422, 422]);
    }
    expect(await dead(rig)).toHaveLength(4);
  });

  it('leaves out what is no event type in a list of several', async () => {
    await using rig = await openWithGroups();
    expect(await dead(rig, 'event_types=order.new,%20order.paid')).toHaveLength(4);
  });
});

describe('a dead letter', () => {
  it('SUB-11 is shown with its body, and each attempt with its error and decision', async () => {
    await using rig = await openWithGroups();
    const [one] = await dead(rig, 'error=COME%20back');
    const { body } = await rig.call('GET', `dead-letter/${one.id}`);
    expect(body.message).toMatchObject({ body: '{"n":1}', bodyEncoding: 'utf8', eventType: 'order.paid' });
    expect(body.attempts).toMatchObject([
      { response: 'come back at 10:15:00', responseStatusCode: 503, decision: { kind: 'retry' } },
      { response: 'come back at 10:15:00', decision: { kind: 'dead', cause: 'exhausted' } },
    ]);
    expect(body.lastError).toBe('HTTP 503: come back at 10:15:00');
  });

  it('is found by what is in its error and by when it died', async () => {
    await using rig = await openWithGroups();
    expect(await dead(rig, 'error=broken')).toHaveLength(3);
    expect(await dead(rig, 'error=nothing+like+it')).toEqual([]);
    expect(await dead(rig, 'died_after=2020-01-01T00:00:00Z&event_types=order.new')).toHaveLength(1);
    expect(await dead(rig, 'died_before=2020-01-01T00:00:00Z')).toEqual([]);
  });

  it('retried by id, only the chosen ones go', async () => {
    await using rig = await openWithGroups();
    const [one, two] = await dead(rig);
    rig.receiver.answer(200);
    const ids = [one.id, two.id, one.id, 'dlv_none'];
    expect((await rig.call('POST', 'dead-letter/retry', { ids })).body).toMatchObject({ count: 2 });
    expect(await dead(rig)).toHaveLength(2);
    const mixed = await rig.call('POST', 'dead-letter/retry', { ids, cause: 'rejected' });
    expect(mixed).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'cause'] }] } });
    const alone = await rig.call('POST', 'dead-letter/retry', { all: true, iterator: one.id });
    expect(alone).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'iterator'] }] } });
  });

  it('whose endpoint is deleted is skipped by a retry, and said so', async () => {
    await using rig = await openWithGroups();
    await rig.call('DELETE', 'app/acme/endpoint/ep');
    const answer = await rig.call('POST', 'dead-letter/retry', { all: true, limit: 10 });
    const none = { count: 0, notDead: [], done: true, iterator: null };
    expect(answer.body).toEqual({ ...none, skipped: 4, withoutEndpoint: 4 });
    const [one] = await dead(rig);
    const alone = await rig.call('POST', `dead-letter/${one.id}/retry`);
    expect(alone.body.detail).toBe(`${one.id} cannot be sent again: its endpoint is deleted`);
  });

  it('SUB-11 begins a part where the one before it ended, and nowhere else', async () => {
    await using rig = await openWithGroups();
    for (const iterator of ['zzz', '', 'msg_0', 'dlv_']) {
      const retried = await rig.call('POST', 'dead-letter/retry', { all: true, limit: 1, iterator });
      expect([iterator, retried.status]).toEqual([iterator, 422]);
      expect(retried.body.detail[0].loc).toEqual(['body', 'iterator']);
      const filter = { all: true };
      const discarded = await rig.call('POST', 'dead-letter/discard', { filter, reason: 'x', limit: 1, iterator });
      expect([iterator, discarded.status]).toEqual([iterator, 422]);
    }
    expect(await dead(rig)).toHaveLength(4);
  });

  it('ALL-06 of another application or source than the one named is not there, and said so of that one', async () => {
    await using rig = await openWithGroups();
    await rig.resources.applications.create({ name: 'Other', uid: 'other' });
    await rig.resources.sources.create({ name: 'Any', uid: 'any', provider: 'none' });
    const [{ id }] = await dead(rig);
    const reasonOf = async (fields: object) =>
      (await rig.call('POST', 'dead-letter/retry', { ids: [id], ...fields })).body.notDead[0].reason;
    expect(await reasonOf({ application: 'other' })).toBe('the application has no such delivery');
    expect(await reasonOf({ source: 'any' })).toBe('the source has no such delivery');
    expect(await dead(rig)).toHaveLength(4);
  });
});

describe('the report', () => {
  it('PAY-09 groups by owner, event type and error, the largest first, of the last seven days', async () => {
    await using rig = await openWithGroups();
    const { body } = await rig.call('GET', 'dead-letter/report');
    expect(body).toMatchObject({ total: 4, groupCount: 3, isCapped: false });
    expect(body.groups[0]).toMatchObject({
      owner: { kind: 'application', name: 'acme' },
      eventType: 'order.paid',
      count: 2,
      error: 'HTTP 500: order 2 is broken',
      exampleId: expect.stringMatching(/^dlv_/),
    });
    expect(Date.parse(body.to) - Date.parse(body.from)).toBe(7 * 24 * 60 * 60 * 1000);
    const before = await rig.call('GET', 'dead-letter/report?died_before=2020-01-01T00:00:00Z');
    expect(before.body).toMatchObject({ total: 0, groups: [] });
    expect((await rig.call('GET', 'dead-letter/report?since=monday')).status).toBe(422);
  });
});

describe('an archive', () => {
  it('SUB-13 has all that is needed to bring dead letters back, and twice is as good as once', async () => {
    await using rig = await openWithGroups();
    const before = await Promise.all(
      (await dead(rig)).map(async ({ id }: { id: string }) => (await rig.call('GET', `dead-letter/${id}`)).body),
    );
    const archive = await archiveOf(rig);
    expect(archive.split('\n')).toHaveLength(5);
    const ids = before.map(({ id }: { id: string }) => id);
    expect((await rig.call('POST', 'dead-letter/purge', { ids })).body).toEqual({ count: 4, kept: [] });
    expect(await dead(rig)).toEqual([]);
    expect((await rig.call('GET', 'app/acme/msg')).body.data).toEqual([]);

    expect((await restore(rig, archive)).body).toEqual({ restored: 4, exists: 0, missing: 0, conflict: 0 });
    expect((await restore(rig, archive)).body).toEqual({ restored: 0, exists: 4, missing: 0, conflict: 0 });
    const after = await Promise.all(ids.map(async (id: string) => (await rig.call('GET', `dead-letter/${id}`)).body));
    const letter = ({ updatedAt: _, ...rest }: { updatedAt: string }) => rest;
    expect(after.map(letter)).toEqual(before.map(letter));
    rig.receiver.answer(200);
    expect((await rig.call('POST', 'dead-letter/retry', { ids })).body.count).toBe(4);
    await rig.attempts(12);
    expect(rig.receiver.received.at(-1)?.body).toBe('{"n":1}');
  });

  it('SUB-13 what was retried since its line was read is not deleted by it, and is named', async () => {
    await using rig = await openWithGroups();
    const lines = (await archiveOf(rig)).trim().split('\n');
    const letters = lines.map((line) => {
      const { id, updatedAt } = JSON.parse(line).delivery;
      return { id, updatedAt };
    });
    const [one, two] = letters;
    rig.receiver.answer(200);
    await rig.call('POST', `dead-letter/${one?.id}/retry`);
    await rig.attempts(9);
    rig.receiver.answer(500, 'still broken');
    await rig.call('POST', `dead-letter/${two?.id}/retry`);
    await rig.attempts(11);
    const kept = [
      { id: one?.id, reason: 'it is delivered (HTTP 200: delivered)' },
      { id: two?.id, reason: 'it died again, or was restored, since it was read' },
    ];
    expect((await rig.call('POST', 'dead-letter/purge', { letters })).body).toEqual({ count: 2, kept });
    expect((await dead(rig)).map(({ id }: { id: string }) => id)).toEqual([two?.id]);
    expect((await rig.call('GET', `delivery/${one?.id}`)).body.attempts).toHaveLength(3);
    const ids = [one?.id, two?.id, 'dlv_none'];
    expect((await rig.call('POST', 'dead-letter/purge', { ids })).body).toEqual({ count: 1, kept: kept.slice(0, 1) });
    for (const body of [{}, { ids, letters }]) {
      expect((await rig.call('POST', 'dead-letter/purge', body)).status).toBe(422);
    }
  });

  it('has what the filter matches, and a wrong filter is an answer, not half a file', async () => {
    await using rig = await openWithGroups();
    const lines = (await archiveOf(rig, 'event_types=order.new')).trim().split('\n');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ version: 1, message: { payload: '{"n":1}' } });
    expect(await archiveOf(rig, 'error=nothing+like+it')).toBe('');
    expect((await rig.call('GET', 'dead-letter/archive?application=nobody')).status).toBe(404);
    expect((await rig.call('GET', 'dead-letter/archive?limit=1')).status).toBe(422);
  });

  it('ALL-06 with a wrong line is refused whole, and the line is named', async () => {
    await using rig = await openWithGroups();
    const archive = await archiveOf(rig);
    const [line = ''] = archive.split('\n');
    const [one] = await dead(rig, 'event_types=order.new');
    await rig.call('POST', 'dead-letter/purge', { ids: [one.id] });
    const data = JSON.parse(line);
    const wrong = [
      'no json',
      '{}',
      JSON.stringify({ ...data, version: 2 }),
      JSON.stringify({ ...data, delivery: { ...data.delivery, state: 'pending' } }),
      JSON.stringify({ ...data, delivery: { ...data.delivery, messageId: 'msg_1' } }),
      JSON.stringify({ ...data, delivery: { ...data.delivery, extra: 1 } }),
    ];
    for (const each of wrong) {
      const answer = await restore(rig, `${archive}${each}\n`);
      expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', '[4]'] }] } });
    }
    expect(await dead(rig)).toHaveLength(3);
    expect((await rig.call('POST', 'dead-letter/restore', { a: 1 })).status).toBe(422);
    expect((await rig.call('POST', 'dead-letter/restore')).status).toBe(422);
  });

  it('is of one application for its own token, which restores and deletes nothing', async () => {
    await using rig = await openWithGroups();
    const archive = await archiveOf(rig);
    const { record } = await rig.resources.applications.create({ name: 'Other', uid: 'other' });
    const { token } = await rig.resources.tokens.create({ name: 't', scope: 'application', applicationId: record.id });
    expect(await archiveOf(rig, '', token)).toBe('');
    expect((await restore(rig, archive, token)).status).toBe(403);
    expect((await rig.call('POST', 'dead-letter/purge', { ids: ['dlv_1'] }, { token })).status).toBe(403);
    expect((await rig.call('GET', 'dead-letter/group', undefined, { token })).body.data).toEqual([]);
    expect((await rig.call('GET', 'dead-letter/report', undefined, { token })).body.total).toBe(0);
    const [{ id: group }] = (await groupsOf(rig)).data;
    expect((await rig.call('POST', 'dead-letter/retry', { group }, { token })).status).toBe(404);
    const [{ id }] = await dead(rig);
    expect((await rig.call('POST', 'dead-letter/retry', { ids: [id] }, { token })).body.count).toBe(0);
    expect(await dead(rig)).toHaveLength(4);
  });
});
