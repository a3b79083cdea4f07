/** Each example runs as its README says, and answers what it says. */
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedReceiver, startReceiver } from '../../src/testing/scripted-receiver.ts';
import { ExampleProcess, readReadme, runCommand } from './example-process.ts';
import { createOwnDatabase } from './own-database.ts';
import { signedRequest, stripeEvent } from './stripe-events.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const examples = readdirSync(`${root}/examples`, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

beforeAll(async () => {
  await runCommand('node scripts/build.mjs');
}, 300_000);

describe.each(examples)('examples/%s', (example) => {
  const readme = readReadme(example);

  it('has a README of at most 40 lines that begins with building', () => {
    expect(readme.lines).toBeLessThanOrEqual(40);
    expect(readme.commands[0]).toBe('node scripts/build.mjs');
    // Next.js takes packages from a node_modules of the app, and compiles the app: nextjs.test.ts runs its commands.
    expect(readme.commands).toHaveLength(example === 'nextjs' ? 4 : 2);
  });
});

it('the examples have no type errors against the package as it is built', { timeout: 300_000 }, async () => {
  await run(process.execPath, ['node_modules/typescript/bin/tsc', '--noEmit', '-p', 'examples'], { cwd: root });
});

describe('as a program', { timeout: 120_000 }, () => {
  it('SUB-01 SUB-05 SUB-06 SUB-07 stripe-subscriptions runs by its two commands, and its curl lines work', async () => {
    const { commands, curls } = readReadme('stripe-subscriptions');
    await using service = new ExampleProcess(commands[1] ?? '');
    const url = await service.url();
    const [addUser = '', showUser = '', health = '', deadLetters = ''] = curls;
    expect(curls).toHaveLength(4);
    await service.curl(addUser);
    for (const token of ['1', 'nobody']) {
      const event = stripeEvent('customer.subscription.created', { token });
      expect((await fetch(`${url}/webhooks/stripe`, signedRequest(event))).status).toBe(200);
    }
    await expect
      .poll(async () => JSON.parse(await service.curl(showUser)), { timeout: 20_000 })
      .toMatchObject({
        tier: 'pro',
        subscriptions: [{ id: 'sub_1', status: 'trialing' }],
      });
    await expect
      .poll(async () => JSON.parse(await service.curl(health)), { timeout: 20_000 })
      .toMatchObject({ status: 'healthy', webhooks: { pending_retries: 0, dlq_items: 1 } });
    const { data } = JSON.parse(await service.curl(deadLetters));
    expect(data).toMatchObject([{ eventId: expect.stringMatching(/^evt_/), lastAttempt: { error: 'permanent' } }]);
    expect(service.out).toMatch(/"user":"u1","subscription":"sub_1","tier":"pro","status":"trialing"/);
    expect(await service.stop()).toBe(0);
  });

  it('ALL-06 stripe-subscriptions that cannot start ends with the message alone', async () => {
    const [, command = ''] = readReadme('stripe-subscriptions').commands;
    const cron = command.replace('main.ts', 'process-retries.ts');
    for (const [line, env, message] of [
      [command, { MAX_RETRIES: 'abc' }, /^MAX_RETRIES must be a whole number from 0 to 99, not abc\n$/],
      [cron, {}, /^The role api is for many nodes on PostgreSQL\. [^\n]*\n$/],
    ] as const) {
      await using service = new ExampleProcess(line, env);
      expect(await service.ended).toBe(1);
      expect(service.out).toMatch(message);
    }
  });

  it('PAY-01 PAY-05 PAY-09 payments runs by its two commands, tells on-call, and prints the report', async () => {
    const { commands, curls } = readReadme('payments');
    await using fulfilment = disposable(await startReceiver(200, 400));
    await using onCall = disposable(await startReceiver());
    const command = commands[1]
      ?.replace('http://127.0.0.1:4000/', fulfilment.url)
      .replace('http://127.0.0.1:4001/', onCall.url);
    await using service = new ExampleProcess(command ?? '');
    const url = await service.url();
    for (const token of ['1', '2']) {
      const event = stripeEvent('payment_intent.succeeded', { token });
      expect((await fetch(`${url}/webhooks/stripe`, signedRequest(event))).status).toBe(200);
      await fulfilment.arrived(Number(token));
    }
    expect((await fetch(`${url}/webhooks/paypal`, { method: 'POST', body: '{}' })).status).toBe(401);
    await onCall.arrived(1);
    expect(curls).toHaveLength(2);
    expect(JSON.parse(await service.curl(curls[1] ?? ''))).toMatchObject({ webhooks: { dlq_items: 1 } });
    expect(await service.curl(curls[0] ?? '')).toMatch(
      /: 1 in 1 group\n\n +1 {2}source stripe {2}payment_intent\.succeeded\n.*400/,
    );
    expect(await service.stop()).toBe(0);
  });

  it('express receives beside express.json()', async () => {
    const { commands, curls } = readReadme('express');
    await using service = new ExampleProcess(commands[1] ?? '');
    const url = await service.url();
    const event = stripeEvent('invoice.paid');
    expect((await fetch(`${url}/webhooks/stripe`, signedRequest(event))).status).toBe(200);
    await service.printed(new RegExp(`${event.id}: invoice in_1 paid, attempt 1`));
    const forged = signedRequest(event, Date.now(), 'whsec_other');
    expect((await fetch(`${url}/webhooks/stripe`, forged)).status).toBe(401);
    expect(curls).toHaveLength(2);
    expect(JSON.parse(await service.curl(curls[0] ?? ''))).toEqual({ a: 1 });
    expect(JSON.parse(await service.curl(curls[1] ?? ''))).toMatchObject({ status: 'healthy' });
    expect(await service.stop()).toBe(0);
  });

  it('outbound sends on SQLite, and again without making a second endpoint', async () => {
    const [, command = ''] = readReadme('outbound').commands;
    await using customer = disposable(await startReceiver());
    const local = command.replace('http://127.0.0.1:4000/', customer.url);
    await using first = new ExampleProcess(local);
    await first.printed(/order \S+ is placed/);
    expect(await first.ended).toBe(0);
    const second = await runCommand(local, { DATA_DIR: first.folder });
    expect(second).toMatch(/order\.placed to http:\S+: .*delivered/);
    expect(second).not.toContain('made ep_');
    expect(customer.arrivals).toHaveLength(2);
    expect(customer.arrivals[0]?.headers).toMatchObject({ 'webhook-signature': expect.stringMatching(/^v1,/) });
  });

  it('BUD-08 outbound on PostgreSQL sends what it published in the transaction of the order', async () => {
    const [, command = ''] = readReadme('outbound').commands;
    await using own = await createOwnDatabase();
    await using customer = disposable(await startReceiver());
    const printed = await runCommand(command.replace('http://127.0.0.1:4000/', customer.url), {
      DATABASE_URL: own.url,
    });
    const [, id] = /order (\S+) is placed/.exec(printed) ?? [];
    expect(JSON.parse(String(customer.arrivals[0]?.body))).toMatchObject({ type: 'order.placed', order: { id } });
    // Not in Posthorn's schema, which comes first for a role of its name.
    const client = new pg.Client(own.url);
    await client.connect();
    expect((await client.query('SELECT id FROM public.orders')).rows).toEqual([{ id }]);
    await client.end();
  });
});

function disposable(receiver: ScriptedReceiver): ScriptedReceiver & AsyncDisposable {
  return Object.assign(receiver, { [Symbol.asyncDispose]: () => receiver.close() });
}
