import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCurl } from './run-curl.ts';
import { SpawnedPosthorn } from './spawned-posthorn.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'posthorn-serve-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const serve = (env: Record<string, string> = {}) =>
  new SpawnedPosthorn(['serve'], { cwd: folder, env: { POSTHORN_PORT: '0', POSTHORN_LOG_LEVEL: 'warn', ...env } });

const ADMIN = 'admin-token-0123456789';

async function urlOf(posthorn: SpawnedPosthorn): Promise<string> {
  return (await posthorn.printed(/serves (http:\S+)/))[1] ?? '';
}

async function post(url: string, body: object): Promise<Response> {
  const headers = { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' };
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

// Each test starts processes, which takes long on a busy machine.
describe('posthorn serve', { timeout: 120_000 }, () => {
  it('prints its URL, the admin token once, and a curl line that works as it stands', async () => {
    {
      await using first = serve();
      const [, token] = await first.printed(/shown this once: (\S+)/);
      const [, curl = ''] = await first.printed(/^ {2}(curl .*)$/m);
      expect(curl).toContain(token);
      const url = await urlOf(first);
      expect(first.out).toContain(`before other commands of posthorn:\n  export POSTHORN_URL=${url}\n`);
      expect(await runCurl(curl)).toMatchObject({ name: 'My first customer' });
      first.kill('SIGINT');
      expect(await first.ended).toEqual({ code: 0, signal: null });
    }
    await using second = serve();
    await second.printed(/the one printed at the first start/);
    expect(second.out).not.toContain('shown this once');
  });

  it('warns at each start of a source that takes everything from everyone', async () => {
    const env = { POSTHORN_ADMIN_TOKEN: ADMIN };
    {
      await using first = serve(env);
      const body = { name: 'open', uid: 'open', type: 'generic-webhook' };
      expect((await post(`${await urlOf(first)}/ingest/api/v1/source`, body)).status).toBe(201);
      first.kill('SIGTERM');
      await first.ended;
    }
    await using second = serve(env);
    await second.printed(/"source":"open".*Anyone who knows the URL/);
  });

  it('does not take the token of `posthorn dev` on the same database, and makes one of its own', async () => {
    let token: string;
    {
      await using dev = new SpawnedPosthorn(['dev', '--port', '0'], { cwd: folder });
      [, token = ''] = await dev.printed(/Token +(\S+)/);
      await dev.printed(/Ctrl-C stops/);
      dev.kill('SIGTERM');
      await dev.ended;
    }
    await using posthorn = serve();
    const [, own = ''] = await posthorn.printed(/Admin token, shown this once: (\S+)/);
    const url = await urlOf(posthorn);
    const statusWith = async (bearer: string) =>
      (await fetch(`${url}/api/v1/app`, { headers: { authorization: `Bearer ${bearer}` } })).status;
    expect(token).toMatch(/^ph_/);
    expect(await statusWith(token)).toBe(401);
    expect(await statusWith(own)).toBe(200);
  });

  it('never prints a token that was configured, and its curl line works where the variable is set', async () => {
    await using posthorn = serve({ POSTHORN_ADMIN_TOKEN: ADMIN });
    const [, curl = ''] = await posthorn.printed(/^ {2}(curl .*)$/m);
    expect(await runCurl(curl, { POSTHORN_ADMIN_TOKEN: ADMIN })).toMatchObject({ name: 'My first customer' });
    expect(posthorn.out).not.toContain(ADMIN);
  });

  it('ALL-04 allows no private target', async () => {
    await using posthorn = serve({ POSTHORN_ADMIN_TOKEN: ADMIN });
    const api = `${await urlOf(posthorn)}/api/v1`;
    await post(`${api}/app`, { name: 'a', uid: 'a' });
    const answer = await post(`${api}/app/a/endpoint`, { url: 'http://127.0.0.1:9/' });
    expect(answer.status).toBe(422);
    expect(await answer.text()).toContain('POSTHORN_ALLOW_NETWORKS');
  });

  it('a second signal ends it at once, whatever is under way', async () => {
    let reached: () => void = () => {};
    const arrival = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const silent = createServer(() => reached());
    const target = await listening(silent);
    try {
      await using posthorn = serve({ POSTHORN_ADMIN_TOKEN: ADMIN, POSTHORN_ALLOW_NETWORKS: '127.0.0.0/8' });
      const api = `${await urlOf(posthorn)}/api/v1`;
      await post(`${api}/app`, { name: 'a', uid: 'a' });
      await post(`${api}/app/a/endpoint`, { url: target });
      await post(`${api}/app/a/msg`, { eventType: 'x.y', payload: {} });
      await arrival;
      posthorn.kill('SIGTERM');
      await posthorn.printed(/Stopping/);
      // Two signals in one moment are one Ctrl-C that came by two ways.
      posthorn.kill('SIGTERM');
      await new Promise((resolve) => setTimeout(resolve, 200));
      const askedAt = performance.now();
      posthorn.kill('SIGTERM');
      expect(await posthorn.ended).toEqual({ code: null, signal: 'SIGKILL' });
      expect(performance.now() - askedAt).toBeLessThan(2000);
    } finally {
      silent.closeAllConnections();
      silent.close();
    }
  });

  it('ALL-06 a port in use, a foreign host, a store in use and a wrong setting each get one clear message', async () => {
    const other = createServer();
    const port = new URL(await listening(other)).port;
    await using portTaken = serve({ POSTHORN_PORT: port });
    expect(await portTaken.ended).toEqual({ code: 1, signal: null });
    expect(portTaken.err).toMatch(/^posthorn: Port \d+ on 127\.0\.0\.1 is in use\. .*POSTHORN_PORT.*\n$/);
    other.close();

    // Set aside for documentation, so no machine has it.
    await using elsewhere = serve({ POSTHORN_HOST: '192.0.2.1' });
    expect(await elsewhere.ended).toEqual({ code: 2, signal: null });
    expect(elsewhere.err).toMatch(/^posthorn: POSTHORN_HOST="192\.0\.2\.1" is no address of this machine.*\n$/);

    await using holder = serve();
    await urlOf(holder);
    await using locked = serve();
    expect(await locked.ended).toEqual({ code: 1, signal: null });
    expect(locked.err).toMatch(/^posthorn: .*posthorn\.db is in use by another Posthorn.*\n$/);

    await using wrong = serve({ POSTHORN_STORE: 'mysql://localhost/x' });
    expect(await wrong.ended).toEqual({ code: 2, signal: null });
    expect(wrong.err).toMatch(/^posthorn: .*POSTHORN_STORE="mysql:\/\/localhost\/x".*sqlite: and postgres: only.*\n$/);
  });

  it('BUD-06 a budget below zero stops the start', async () => {
    await using posthorn = serve({ PAYMENT_REQUEST_WEBHOOK_RETRY_BUDGET: '-1' });
    expect(await posthorn.ended).toEqual({ code: 2, signal: null });
    expect(posthorn.err).toContain('PAYMENT_REQUEST_WEBHOOK_RETRY_BUDGET="-1" must be a whole number, 0 or more');
  });
});
