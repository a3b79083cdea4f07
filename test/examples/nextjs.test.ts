/** The example inside Next.js itself: built and started by the commands of its README, sent to over HTTP, ended by a signal. */
import { createHmac } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ExampleProcess, readReadme, runCommand } from './example-process.ts';
import { STRIPE_SECRET, signedRequest, stripeEvent } from './stripe-events.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const app = join(root, 'examples/nextjs');
const [build = '', install = '', buildApp = '', startApp = ''] = readReadme('nextjs').commands;
/** Asks nobody outside: it sends no statistics, and a package that is missing is an error, not something to fetch. */
const OFFLINE = { NEXT_TELEMETRY_DISABLED: '1', NEXT_IGNORE_INCORRECT_LOCKFILE: '1', CI: '1' };

const FILES = [
  'README.md',
  'app/api/webhooks/stripe/route.ts',
  'instrumentation.ts',
  'lib/hooks.ts',
  'next.config.ts',
  'package.json',
  'tsconfig.json',
];
const readFiles = () => FILES.map((name) => readFileSync(join(app, name), 'utf8'));

function removeBuilt(): void {
  for (const made of ['.next', 'next-env.d.ts', 'node_modules'])
    rmSync(join(app, made), { recursive: true, force: true });
}

beforeAll(async () => {
  removeBuilt();
  const before = readFiles();
  await runCommand(build);
  await runCommand(install);
  await runCommand(buildApp, OFFLINE);
  // Next.js writes what it misses into tsconfig.json, which whoever copies it would find changed.
  expect(readFiles()).toEqual(before);
}, 180_000);
afterAll(removeBuilt);

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'posthorn-nextjs-'));
  file = join(folder, 'posthorn.db');
});
// Here and not at the end of a test: one that waits until its time is over never comes to its end, and its server would stay.
afterEach(async () => {
  for (const server of started.splice(0)) await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const started: ExampleProcess[] = [];
function start(): ExampleProcess {
  const server = new ExampleProcess(startApp, { ...OFFLINE, POSTHORN_STORE: `sqlite:${file}` });
  started.push(server);
  return server;
}
const send = async (server: ExampleProcess, request: RequestInit) =>
  fetch(`${await server.url()}/api/webhooks/stripe`, { ...request, signal: AbortSignal.timeout(20_000) });

/** The app's file while the app does not run, in a Posthorn that handles nothing. It is the built one: a file has a thread. */
async function openFile() {
  const { createPosthorn }: typeof import('../../src/index.ts') = await import(join(root, 'dist/index.js'));
  const posthorn = await createPosthorn({ store: `sqlite:${file}`, worker: false, logger: false });
  return Object.assign(posthorn, { [Symbol.asyncDispose]: () => posthorn.close() });
}

async function readFile() {
  await using posthorn = await openFile();
  const { store } = posthorn.served;
  const { items: sources } = await store.list({ kind: 'source', limit: 1, order: 'ascending' });
  const applicationId = sources[0]?.record.id ?? '';
  const { items: messages } = await store.listMessages({ applicationId, limit: 100, order: 'ascending' });
  const { items: attempts } = await store.listAttempts({ limit: 100, order: 'ascending' });
  return {
    bodies: messages.map(({ payload }) => Buffer.from(payload).toString('latin1')),
    decisions: attempts.map(({ decision }) => decision.kind),
  };
}

describe('examples/nextjs in Next.js', { timeout: 60_000 }, () => {
  it('takes what Stripe signed, handles it once although it comes twice, and refuses what is forged', async () => {
    const server = start();
    const event = stripeEvent('invoice.paid');
    const request = signedRequest(event);
    expect((await send(server, request)).status).toBe(200);
    await server.printed(new RegExp(`${event.id}: invoice in_1 paid`));
    expect((await send(server, request)).status).toBe(200);

    const forged = stripeEvent('invoice.paid');
    expect((await send(server, signedRequest(forged, Date.now(), 'whsec_other'))).status).toBe(401);

    expect(await server.stop()).toBe(0);
    expect(server.out.match(/: invoice \S+ paid/g)).toHaveLength(1);
    expect((await readFile()).decisions).toEqual(['delivered']);
  });

  it('keeps the bytes of a body as they came, those that are no text too', async () => {
    const server = start();
    const event = stripeEvent('invoice.paid', { object: { id: 'in_Zoë_☃_🚀' } });
    const request = signedRequest(event);
    expect((await send(server, request)).status).toBe(200);
    await server.printed(/invoice in_Zoë_☃_🚀 paid/);

    const latin = Buffer.from(
      JSON.stringify(stripeEvent('invoice.paid', { object: { id: 'in_Zoë' } }), null, 2),
      'latin1',
    );
    expect((await send(server, { ...request, ...signedBytes(latin) })).status).toBe(200);
    await server.printed(/invoice in_Zo\uFFFD paid/);

    expect(await server.stop()).toBe(0);
    expect((await readFile()).bodies).toEqual([Buffer.from(request.body).toString('latin1'), latin.toString('latin1')]);
  });

  it('goes on at its start with what waited, before any request', async () => {
    const event = stripeEvent('invoice.paid');
    {
      await using former = await openFile();
      const source = former.source('stripe', { secret: STRIPE_SECRET }).on('invoice.paid', () => {});
      const { status } = await source.receive(new Request('http://localhost/', signedRequest(event)));
      expect(status).toBe(200);
    }

    const server = start();
    await server.printed(new RegExp(`${event.id}: invoice in_1 paid`));
    expect(await server.stop()).toBe(0);
    expect((await readFile()).decisions).toEqual(['delivered']);
  });

  it('ends by itself after SIGTERM, with a connection open, and leaves the file closed', async () => {
    const server = start();
    expect((await send(server, signedRequest(stripeEvent('invoice.paid')))).status).toBe(200);
    expect(existsSync(`${file}-wal`)).toBe(true);
    expect(await server.stop()).toBe(0);
    expect(existsSync(`${file}-wal`)).toBe(false);
  });
});

it('is packed without what building and running it leaves behind', { timeout: 60_000 }, async () => {
  const [packed] = JSON.parse(await runCommand('npm pack --dry-run --ignore-scripts --json'));
  const paths = packed.files.map(({ path }: { path: string }) => path);
  const ours = paths.filter((path: string) => path.startsWith('examples/nextjs/'));
  expect(ours.sort()).toEqual(FILES.map((name) => `examples/nextjs/${name}`));
});

it('names the versions that the tests run', () => {
  const { dependencies, devDependencies } = readPackage(app);
  const { version, devDependencies: ours } = readPackage(root);
  expect({ ...ours, posthorn: version }).toMatchObject({ ...dependencies, ...devDependencies });
});

function readPackage(path: string) {
  return JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
}

/** Stripe's library signs text only. */
function signedBytes(body: Buffer<ArrayBuffer>) {
  const timestamp = Math.floor(Date.now() / 1000);
  const signature = createHmac('sha256', STRIPE_SECRET).update(`${timestamp}.`).update(body).digest('hex');
  return { body, headers: { 'stripe-signature': `t=${timestamp},v1=${signature}` } };
}
