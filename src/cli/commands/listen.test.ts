/** listen against a real server, with an app behind it and keys from a stream. */
import { PassThrough } from 'node:stream';
import Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ScriptedReceiver, startReceiver } from '../../testing/scripted-receiver.ts';
import { openReceivingRig, type ReceivingRig } from '../testing/receiving-rig.ts';
import { type Ran, runInMemory } from '../testing/run-in-memory.ts';

const SECRET = 'whsec_of_the_endpoint_at_stripe';
let rig: ReceivingRig;
let app: ScriptedReceiver;

beforeEach(async () => {
  rig = await openReceivingRig();
  app = await startReceiver();
  await rig.run(['sources', 'create', 'stripe', '--secret', SECRET]);
});
afterEach(async () => {
  await app.close();
  await rig[Symbol.asyncDispose]();
});

const trigger = () => rig.run(['trigger', 'stripe', 'invoice.paid', '--secret', SECRET]);

/** The command under way, with a keyboard that a test types on. */
function listening(...flags: string[]) {
  const modes: boolean[] = [];
  const keyboard = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (raw: boolean) => modes.push(raw) });
  let out = '';
  const words = ['listen', '--source', 'stripe', ...flags];
  const ended: Promise<Ran> = runInMemory(words, rig.env, { keyboard, onOut: (text) => (out = text) });
  const printed = (pattern: RegExp) => expect.poll(() => out, { timeout: 10_000 }).toMatch(pattern);
  return { keyboard, modes, ended, printed, type: (keys: string) => keyboard.write(keys) };
}

describe('posthorn listen', { timeout: 60_000 }, () => {
  it("forwards the bytes and headers that came, so that the app's own check of the signature passes", async () => {
    const { printed, type, ended, modes } = listening('--forward', `${app.url}webhooks`);
    await printed(/q ends/);
    await trigger();
    await printed(/^\d\d:\d\d:\d\d {2}#1 {2}invoice\.paid {2}msg_\w+ {2}→ {2}200 {2}\d+ ms$/m);
    const [arrival] = app.arrivals;
    const signature = String(arrival?.headers['stripe-signature']);
    const event = new Stripe('sk_test_1').webhooks.constructEvent(arrival?.body ?? '', signature, SECRET);
    expect(event.type).toBe('invoice.paid');
    expect(arrival?.path).toBe('/webhooks');
    expect(arrival?.headers['content-type']).toBe('application/json');
    type('q');
    expect(await ended).toMatchObject({ exitCode: 0, err: '' });
    expect(modes).toEqual([true, false]);
  });

  it('sends the last one again with r, any by its number, and leaves the others alone', async () => {
    const { printed, type, ended } = listening('--forward', app.url);
    await printed(/q ends/);
    type('r');
    await trigger();
    await printed(/#1 /);
    app.answer(500);
    await trigger();
    await printed(/#2 .* 500 /);
    type('r');
    await printed(/#2 again .* 500 /);
    type('12\u007f\r');
    await printed(/#1 again .* 500 /);
    type('99\r');
    type('\u0003');
    const { err, exitCode } = await ended;
    expect(exitCode).toBe(0);
    expect(err).toBe('Nothing has come yet.\nThere is no 99 here.\n');
    const ids = app.arrivals.map(({ body }) => (JSON.parse(body.toString()) as { id: string }).id);
    expect(ids).toHaveLength(4);
    expect([ids[2], ids[3]]).toEqual([ids[1], ids[0]]);
  });

  it('begins where --since says, ends after --count, and prints JSON for programs', async () => {
    await trigger();
    await trigger();
    const ran = await rig.run('listen --source stripe --since 1h --count 2 --json');
    const lines = ran.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { number: 1, event: { eventType: 'invoice.paid', bodyEncoding: 'utf8' }, answer: null },
      { number: 2 },
    ]);
    expect(lines[0].event.id < lines[1].event.id).toBe(true);
  });

  it('tells of an app that is not there or does not answer in order, and goes on', async () => {
    const { printed, type, ended } = listening('--forward', 'http://127.0.0.1:9/');
    await printed(/q ends/);
    await trigger();
    await printed(/#1 .* nothing listens at 127\.0\.0\.1:9 /);
    await trigger();
    await printed(/#2 /);
    type('q');
    expect((await ended).exitCode).toBe(0);
  });

  it('warns where events that nobody is for are not kept', async () => {
    const { resources } = rig.inbound;
    await resources.sources.declare({ name: 'x', uid: 'picky', provider: 'none', onUnknownEvent: 'reject' });
    const keyboard = Object.assign(new PassThrough(), { isTTY: true });
    const ended = runInMemory('listen --source picky', rig.env, { keyboard });
    keyboard.write('q');
    expect((await ended).out).toContain('the source is set to reject others');
  });

  it('ALL-04 ALL-06 forwards to no other machine unless it is said, and names what is wrong', async () => {
    const far = await rig.run('listen --source stripe --forward http://192.0.2.1/');
    expect(far).toMatchObject({ exitCode: 2, err: expect.stringContaining('--allow-remote') });
    expect((await rig.run('listen --source nobody')).err).toContain('There is no source "nobody"');
    expect((await rig.run('listen')).err).toContain('--source');
    expect((await runInMemory('listen --source x', {})).err).toContain('POSTHORN_ADMIN_TOKEN');
  });
});
