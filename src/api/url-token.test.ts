/** The token in a source's URL: made by the official SDK, asked for at the open path, and a secret everywhere else. */
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { Svix } from 'svix';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createInboundRig, type InboundRig } from '../inbound/testing/inbound-rig.ts';
import { createManualClock, type ManualClock } from '../testing/manual-clock.ts';
import { createServer } from './server.ts';

const HOUR_MS = 60 * 60 * 1000;
const GRACE_MS = 48 * HOUR_MS;

let clock: ManualClock;
let rig: InboundRig;
let server: FastifyInstance;
let svix: Svix;
let bearer = '';
let base = '';

beforeEach(async () => {
  clock = createManualClock();
  // Days pass at once: a node that beats every few seconds of them would be most of what this test does.
  rig = await createInboundRig({ clock, takesWork: false, leaseMs: 1000 * HOUR_MS });
  const { resources, store, receiver } = rig;
  server = createServer({ resources, store, clock, receiver, logger: false });
  await server.listen({ host: '127.0.0.1', port: 0 });
  base = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
  bearer = (await resources.tokens.create({ name: 'test', scope: 'admin' })).token;
  svix = new Svix(bearer, { serverUrl: base });
  await svix.ingest.source.create({ name: 'Shop', uid: 'shop', type: 'generic-webhook' });
});
afterEach(async () => {
  await server.close();
  await rig[Symbol.asyncDispose]();
});

const rotate = async () => (await svix.ingest.source.rotateToken('shop')).ingestUrl;
/** By the short way in, and by the framework's route. */
async function statuses(url: string): Promise<readonly [direct: number, framework: number]> {
  const body = JSON.stringify({ type: 'a', id: String(clock.now()) });
  const post = async (to: string) => (await fetch(to, { method: 'POST', body })).status;
  return [await post(url), await post(`${url}?by=framework`)];
}
const TAKEN = [200, 200];
const UNKNOWN = [404, 404];
const refusals = () => rig.log.filter(({ level }) => level === 'warn').map(({ fields }) => fields);

describe('rotateToken of the official svix SDK', () => {
  it('answers a URL with a token that nobody can guess, which the source then shows and takes events at', async () => {
    const url = await rotate();
    expect(url).toMatch(new RegExp(`^${base}/in/shop/[\\w-]{32}$`));
    expect((await svix.ingest.source.get('shop')).ingestUrl).toBe(url);
    expect((await svix.ingest.source.list()).data.map(({ ingestUrl }) => ingestUrl)).toEqual([url]);
    expect(await statuses(url)).toEqual(TAKEN);
    const { id } = await rig.resources.sources.get('shop');
    await clock.advance(1);
    expect(await statuses(url.replace('/shop/', `/${id}/`))).toEqual(TAKEN);
  });

  it('keeps the plain URL for 48 hours, and then knows it no more than that of a source that there is not', async () => {
    const url = await rotate();
    await clock.advance(GRACE_MS - 1);
    expect(await statuses(`${base}/in/shop`)).toEqual(TAKEN);
    await clock.advance(1);
    expect(await statuses(`${base}/in/shop`)).toEqual(UNKNOWN);
    const answers = [];
    for (const name of ['shop', 'nobody'])
      answers.push(await (await fetch(`${base}/in/${name}`, { method: 'POST' })).text());
    expect(answers[0]).toBe(answers[1]);
    expect(await statuses(url)).toEqual(TAKEN);
    const { id } = await rig.resources.sources.get('shop');
    expect(await statuses(`${base}/in/${id}`)).toEqual(UNKNOWN);
  });

  it('gives each former URL 48 hours from when it was replaced', async () => {
    const first = await rotate();
    await clock.advance(HOUR_MS);
    const second = await rotate();
    expect(second).not.toBe(first);
    await clock.advance(GRACE_MS - HOUR_MS);
    expect(await statuses(`${base}/in/shop`)).toEqual(UNKNOWN);
    expect(await statuses(first)).toEqual(TAKEN);
    await clock.advance(HOUR_MS);
    expect(await statuses(first)).toEqual(UNKNOWN);
    expect(await statuses(second)).toEqual(TAKEN);
  });

  it('ALL-05 shows until when each former URL works, and never its token', async () => {
    const shown = async () => {
      const headers = { authorization: `Bearer ${bearer}` };
      const answer = await (await fetch(`${base}/ingest/api/v1/source/shop`, { headers })).text();
      return { answer, source: JSON.parse(answer) as { formerUrls?: { hasToken: boolean; expiresAt: string }[] } };
    };
    expect((await shown()).source).not.toHaveProperty('formerUrls');
    const first = await rotate();
    const plainUntil = clock.now() + GRACE_MS;
    await clock.advance(HOUR_MS);
    await rotate();
    const both = [
      { hasToken: true, expiresAt: plainUntil + HOUR_MS },
      { hasToken: false, expiresAt: plainUntil },
    ];
    expect((await rig.resources.sources.get('shop')).formerUrls).toEqual(both);
    const { source, answer } = await shown();
    expect(source.formerUrls?.map((each) => ({ ...each, expiresAt: Date.parse(each.expiresAt) }))).toEqual(both);
    expect(answer).not.toContain(first.slice(first.lastIndexOf('/') + 1));
    expect(await svix.ingest.source.get('shop')).toMatchObject({ uid: 'shop', type: 'generic-webhook' });
    await clock.advance(GRACE_MS - HOUR_MS);
    expect((await shown()).source.formerUrls).toHaveLength(1);
    await clock.advance(HOUR_MS);
    expect((await shown()).source).not.toHaveProperty('formerUrls');
  });

  it('ends every former URL at once on request', async () => {
    const first = await rotate();
    const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ dropOld: true });
    const answer = await fetch(`${base}/ingest/api/v1/source/shop/token/rotate`, { method: 'POST', headers, body });
    const { ingestUrl } = (await answer.json()) as { ingestUrl: string };
    expect(await statuses(first)).toEqual(UNKNOWN);
    expect(await statuses(`${base}/in/shop`)).toEqual(UNKNOWN);
    expect(await statuses(ingestUrl)).toEqual(TAKEN);
  });

  it('refuses a body with a misspelt name: what was to end would go on', async () => {
    const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ dropold: true });
    const answer = await fetch(`${base}/ingest/api/v1/source/shop/token/rotate`, { method: 'POST', headers, body });
    expect(answer.status).toBe(422);
    expect(await answer.text()).toContain('dropold');
  });

  it('honours the public URL', async () => {
    const { resources, store } = rig;
    const publicUrl = 'https://hooks.example.com/posthorn';
    const behind = createServer({ resources, store, clock, logger: false, publicUrl });
    const headers = { authorization: `Bearer ${bearer}` };
    const url = '/ingest/api/v1/source/shop/token/rotate';
    const answer = await behind.inject({ method: 'POST', url, headers });
    expect(answer.json().ingestUrl).toMatch(/^https:\/\/hooks\.example\.com\/posthorn\/in\/shop\/[\w-]{32}$/);
    await behind.close();
  });

  it('leaves ten former URLs at most, and says so', async () => {
    for (let n = 0; n < 10; n++) await rotate();
    await expect(rotate()).rejects.toMatchObject({ body: { code: 'limit_reached' } });
    await clock.advance(GRACE_MS);
    await rotate();
  });

  it('does not find a source that there is not', async () => {
    await expect(svix.ingest.source.rotateToken('nobody')).rejects.toMatchObject({ code: 404 });
  });
});

describe('a URL that is not one of the source', () => {
  it('is refused like that of an unknown source, and the log says why and not the token', async () => {
    expect(await statuses(`${base}/in/shop/guess`)).toEqual(UNKNOWN);
    const url = await rotate();
    const token = url.slice(url.lastIndexOf('/') + 1);
    await clock.advance(GRACE_MS);
    const wrong = ['guess', token.slice(0, -1), `${token}x`, token.toUpperCase(), 'a'.repeat(900), '%00', `${token}/x`];
    for (const each of wrong) expect([each, await statuses(`${base}/in/shop/${each}`)]).toEqual([each, UNKNOWN]);
    expect(await statuses(`${base}/in/shop`)).toEqual(UNKNOWN);
    expect(await statuses(`${base}/in/nobody/${token}`)).toEqual(UNKNOWN);
    const next = await rotate();
    await clock.advance(GRACE_MS);
    expect(await statuses(`${url}`)).toEqual(UNKNOWN);
    expect(await statuses(`${base}/in/shop`)).toEqual(UNKNOWN);
    expect(refusals()).toEqual(
      expect.arrayContaining([
        { source: 'shop', reason: 'its URL has no token, and this one has' },
        { source: 'shop', reason: 'the token in the URL is not its token' },
        { source: 'shop', reason: 'its URL has a token, and this one has none' },
        { source: 'shop', reason: 'this URL was replaced by one with a new token, and its time is over' },
      ]),
    );
    for (const secret of [token, next.slice(next.lastIndexOf('/') + 1)]) {
      expect(JSON.stringify(rig.log)).not.toContain(secret);
    }
    expect(await rig.messages('shop')).toEqual([]);
  });

  it('is answered no HEAD either, which some providers look with: without its token, with a wrong one or one of the past', async () => {
    const past = await rotate();
    const url = await rotate();
    await clock.advance(GRACE_MS);
    const heads = [`${base}/in/shop`, `${base}/in/shop/guess`, past, url].flatMap((each) => [each, `${each}?a=1`]);
    const found = await Promise.all(heads.map(async (each) => (await fetch(each, { method: 'HEAD' })).status));
    expect(found).toEqual([404, 404, 404, 404, 404, 404, 200, 200]);
  });

  it('tells nothing by its method either: PUT is 405 at every URL', async () => {
    const url = await rotate();
    for (const each of [url, `${base}/in/shop`, `${base}/in/shop/guess`, `${base}/in/nobody`]) {
      expect((await fetch(each, { method: 'PUT', body: 'x' })).status).toBe(405);
    }
  });
});

describe('the token of a URL', () => {
  it('is sealed in the store, and stays when the source is replaced, declared anew or given a new secret', async () => {
    const url = await rotate();
    const token = url.slice(url.lastIndexOf('/') + 1);
    const stored = await rig.store.get({ kind: 'source', idOrName: 'shop' });
    expect(stored?.record.urlTokens?.[0]?.token).toMatch(/^box1:/);
    expect(JSON.stringify(stored)).not.toContain(token);
    await svix.ingest.source.update('shop', { name: 'New', uid: 'shop', type: 'generic-webhook' });
    expect((await svix.ingest.source.get('shop')).ingestUrl).toBe(url);
    await rig.resources.sources.declare({ name: 'New', uid: 'shop', provider: 'github', settings: { secret: 'a' } });
    await rig.resources.sources.rotateSecret('shop', { secret: 'b' });
    expect((await svix.ingest.source.get('shop')).ingestUrl).toBe(url);
    expect(JSON.stringify(await rig.resources.sources.get('shop'))).not.toContain('box1:');
  });

  it('is in no answer that is kept under an idempotency key', async () => {
    const body = { name: 'Hub', uid: 'hub', provider: 'github', settings: { secret: 'a' } };
    await rig.resources.sources.create(body);
    const call = (path: string, key: string) =>
      fetch(`${base}/ingest/api/v1/source/hub/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${bearer}`, 'idempotency-key': key, 'content-type': 'application/json' },
        body: JSON.stringify(path === 'secret/rotate' ? { secret: 'b' } : {}),
      });
    const made = (await (await call('token/rotate', 'one')).json()) as { ingestUrl: string };
    expect(made.ingestUrl).toContain('/in/hub/');
    expect((await call('token/rotate', 'one')).status).toBe(409);
    expect(await (await call('secret/rotate', 'two')).json()).toMatchObject({ uid: 'hub', ingestUrl: null });
    expect(await (await call('secret/rotate', 'two')).json()).toMatchObject({ uid: 'hub', ingestUrl: null });
  });

  it('is not kept with an event when a proxy put the URL into a header', async () => {
    const url = await rotate();
    const headers = { 'x-original-url': url, 'x-kept': 'yes' };
    expect((await fetch(url, { method: 'POST', body: '{"type":"a","id":"1"}', headers })).status).toBe(200);
    const [message] = await rig.messages('shop');
    expect(message?.headers).toMatchObject({ 'x-kept': 'yes' });
    expect(JSON.stringify(message)).not.toContain(url.slice(url.lastIndexOf('/')));
  });

  it("is not asked for by receivers in code, whose path is the application's own", async () => {
    const source = rig.source('own', { provider: 'none' });
    await source.ready();
    await rig.resources.sources.rotateUrlToken('own');
    await clock.advance(GRACE_MS);
    const request = new Request('http://localhost/webhooks', { method: 'POST', body: '{"type":"a","id":"1"}' });
    expect((await source.receive(request)).status).toBe(200);
    expect((await fetch(`${base}/in/own`, { method: 'POST', body: '{}' })).status).toBe(404);
  });
});
