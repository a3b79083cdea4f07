import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startReceiver } from '../../src/testing/scripted-receiver.ts';
import { freePort } from '../crash/server-process.ts';
import { runCurl } from './run-curl.ts';
import { SpawnedPosthorn } from './spawned-posthorn.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'posthorn-dev-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const dev = (env: Record<string, string> = {}) => new SpawnedPosthorn(['dev', '--port', '0'], { cwd: folder, env });

async function announced(posthorn: SpawnedPosthorn) {
  await posthorn.printed(/Ctrl-C stops/);
  return {
    url: (await posthorn.printed(/API +(http:\S+)\/api\/v1/))[1] ?? '',
    token: (await posthorn.printed(/Token +(\S+)/))[1] ?? '',
    curl: (await posthorn.printed(/^ {2}(curl .*)$/m))[1] ?? '',
  };
}

// Each test starts processes, which takes long on a busy machine.
describe('posthorn dev', { timeout: 120_000 }, () => {
  it('ALL-07 sends a first webhook with nothing but what it prints', async () => {
    await using posthorn = dev();
    const { url, curl } = await announced(posthorn);
    expect(posthorn.out).toContain('endpoints on this machine are allowed');
    expect(posthorn.out).toContain(`before other commands of posthorn:\n  export POSTHORN_URL=${url}\n`);

    const { id } = await runCurl(curl);
    const [line] = await posthorn.printed(/^\d\d:\d\d:\d\d .*$/m);
    expect(line).toContain(`hello.world  ${id}  signature ✓  {"message":"It arrived."}`);

    const inbox = await (await fetch(`${url}/inbox`)).json();
    expect(inbox).toEqual({
      data: [expect.objectContaining({ messageId: id, eventType: 'hello.world', verified: true, retry: 0 })],
    });
    const page = await fetch(`${url}/inbox`, { headers: { accept: 'text/html' } });
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await page.text()).toContain(`<code>${id}</code>`);

    const root = await fetch(url, { headers: { accept: 'text/html' }, redirect: 'manual' });
    expect(root.headers.get('location')).toBe('/inbox');

    posthorn.kill('SIGTERM');
    expect(await posthorn.ended).toEqual({ code: 0, signal: null });
    expect(posthorn.err).toBe('');
  });

  it('PAY-01 takes in a signed event of Stripe with nothing but the line that it prints, as often as that is run', async () => {
    await using posthorn = dev();
    await announced(posthorn);
    const [, line = ''] = await posthorn.printed(/^ {2}(npx posthorn sources create .*)$/m);
    const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
    const script = line.replaceAll('npx posthorn', `'${process.execPath}' '${main}'`);
    for (const _ of [1, 2]) {
      const env = { PATH: process.env.PATH };
      const { stdout } = await promisify(execFile)('sh', ['-c', script], { cwd: folder, env });
      expect(stdout).toMatch(/receiving URL +http:\S+\/in\/stripe\n/);
      expect(stdout).toMatch(/^invoice\.paid → .* 200 .*"received":true/m);
    }
    await posthorn.printed(/^\d\d:\d\d:\d\d {2}← stripe {2}invoice\.paid {2}evt_\w+ {2}stored; nobody is for it$/m);
    const forged = script.replace(/.*&&/, '').replace('whsec_test', 'whsec_wrong');
    await expect(
      promisify(execFile)('sh', ['-c', forged], { cwd: folder, env: { PATH: process.env.PATH } }),
    ).rejects.toThrow();
    await posthorn.printed(/← stripe {2}401 refused: the signature matches none of the secrets$/m);
    expect(posthorn.out).not.toMatch(/^\{/m);
  });

  it('shows a forged delivery as such, and does not let it write to the terminal or the page', async () => {
    await using posthorn = dev();
    const { url } = await announced(posthorn);
    const forged = '\u001b[2J\n<script>alert(1)</script>';
    const headers = { 'webhook-id': 'msg_<b>', 'webhook-timestamp': '1', 'webhook-signature': 'v1,AAAA' };
    const answer = await fetch(`${url}/inbox`, { method: 'POST', body: forged, headers });
    expect(answer.status).toBe(401);
    const [line] = await posthorn.printed(/^\d\d:\d\d:\d\d .*$/m);
    expect(line).toContain('signature ✗   [2J <script>');
    const page = await (await fetch(`${url}/inbox`, { headers: { accept: 'text/html' } })).text();
    expect(page).not.toContain('<script>');
    expect(page).toContain('&lt;script&gt;');
  });

  it('keeps its token, application and endpoint over a restart, even at another port', async () => {
    let token: string;
    {
      await using first = dev();
      ({ token } = await announced(first));
      first.kill('SIGINT');
      expect(await first.ended).toEqual({ code: 0, signal: null });
    }
    expect(statSync(join(folder, 'posthorn.db-dev-token')).mode & 0o777).toBe(0o600);
    await using second = dev();
    const again = await announced(second);
    expect(again.token).toBe(token);
    await runCurl(again.curl);
    await second.printed(/signature ✓/);
    const headers = { authorization: `Bearer ${token}` };
    const endpoints = await (await fetch(`${again.url}/api/v1/app/dev/endpoint`, { headers })).json();
    expect(endpoints).toMatchObject({ data: [{ uid: 'inbox', url: `${again.url}/inbox` }] });
  });

  it('ALL-01 shows what a killed server left behind as what it is, never as forged', async () => {
    const port = String(await freePort());
    const start = () => new SpawnedPosthorn(['dev', '--port', port], { cwd: folder });
    const shown = (line: SpawnedPosthorn) => [...line.out.matchAll(/(msg_\w+) {2}signature ✓/g)].map(([, id]) => id);
    const published: string[] = [];
    await using first = start();
    const { url, token } = await announced(first);
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const publish = async (n: number) => {
      const body = JSON.stringify({ eventType: 'left.behind', payload: { n } });
      const answer = await fetch(`${url}/api/v1/app/dev/msg`, { method: 'POST', headers, body });
      published.push(((await answer.json()) as { id: string }).id);
      if (published.length === 60) first.kill('SIGKILL');
    };
    // Those under way when it is killed get no answer.
    await Promise.allSettled(Array.from({ length: 100 }, (_, n) => publish(n)));
    await first.ended;

    await using second = start();
    await announced(second);
    const missing = () => published.filter((id) => ![...shown(first), ...shown(second)].includes(id));
    await expect.poll(missing, { timeout: 60_000 }).toEqual([]);
    expect(second.out).not.toContain('signature ✗');
    expect(second.out).not.toContain('/inbox  HTTP');
  });

  it('tells a failed attempt in a line for a person, unless a log level is set', async () => {
    const nobody = `http://127.0.0.1:${await freePort()}/hook`;
    for (const env of [{}, { POSTHORN_LOG_LEVEL: 'warn' }]) {
      await using posthorn = dev({ POSTHORN_STORE: 'sqlite::memory:', ...env });
      const { url, token, curl } = await announced(posthorn);
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ url: nobody });
      await fetch(`${url}/api/v1/app/dev/endpoint`, { method: 'POST', headers, body });
      await runCurl(curl);
      if ('POSTHORN_LOG_LEVEL' in env) {
        await posthorn.printed(/^\{.*"webhook delivery failed"\}$/m);
        expect(posthorn.out).not.toContain(' → ');
      } else {
        const [line] = await posthorn.printed(/^.* → .*$/m);
        expect(line.replace(nobody, 'URL')).toMatch(
          /^\d\d:\d\d:\d\d {2}hello\.world → URL {2}connection refused: retry 1 of \d+ in .* s {2}next at \d\d:\d\d:\d\d$/,
        );
        expect(posthorn.out).not.toMatch(/^\{/m);
      }
    }
  });

  it('shows what reached an endpoint of your own', async () => {
    const receiver = await startReceiver();
    await using posthorn = dev({ POSTHORN_STORE: 'sqlite::memory:' });
    const { url, token, curl } = await announced(posthorn);
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ url: receiver.url });
    await fetch(`${url}/api/v1/app/dev/endpoint`, { method: 'POST', headers, body });
    await runCurl(curl);
    const [line] = await posthorn.printed(/^.* → .*: delivered$/m);
    expect(line).toMatch(/^\d\d:\d\d:\d\d {2}hello\.world → http:\S+ {2}HTTP \d+: delivered$/);
    expect(line).toContain(receiver.url);
    await receiver.close();
  });

  it('uses POSTHORN_ADMIN_TOKEN when there is one', async () => {
    const token = 'my-own-admin-token-0123';
    await using posthorn = dev({ POSTHORN_ADMIN_TOKEN: token, POSTHORN_STORE: 'sqlite::memory:' });
    const printed = await announced(posthorn);
    expect(printed.token).toBe(token);
    expect(posthorn.out).toContain('from POSTHORN_ADMIN_TOKEN');
    expect(await runCurl(printed.curl)).toHaveProperty('id');
  });
});
