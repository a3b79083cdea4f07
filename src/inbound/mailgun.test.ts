import { expect, it } from 'vitest';
import { createManualClock } from '../testing/manual-clock.ts';
import { DAY_MS } from './providers/durations.ts';
import { findProvider } from './providers/index.ts';
import { createInboundRig } from './testing/inbound-rig.ts';

it("SUB-02 a token of Mailgun's is taken with one body: the same one again is a copy, another one is refused", async () => {
  await using rig = await createInboundRig();
  const settings = { signingKey: 'key-1' };
  const source = rig.source('mailgun', { settings });
  const mailgun = findProvider('mailgun');
  const signed = mailgun.sign(mailgun.sample('delivered', { now: Date.now(), token: 'a1' }), settings, Date.now());
  const send = async (body: string) =>
    (await source.receive(new Request('http://localhost/', { method: 'POST', body, headers: signed.headers }))).status;
  const text = Buffer.from(signed.body).toString();
  const forged = text.replace('"id":"a1"', '"id":"forged"');
  expect(forged).not.toBe(text);
  expect(await send(text)).toBe(200);
  expect(await send(text)).toBe(200);
  expect(await send(forged)).toBe(401);
  expect((await rig.messages('mailgun')).map(({ eventId }) => eventId)).toEqual(['a1']);
});

it("SUB-02 a token of Mailgun's stays bound to its body for as long as the source takes its timestamp", async () => {
  const clock = createManualClock();
  await using rig = await createInboundRig({ clock, takesWork: false, leaseMs: 90 * DAY_MS });
  const settings = { signingKey: 'key-1', toleranceSeconds: String((20 * DAY_MS) / 1000) };
  const source = rig.source('mailgun', { settings });
  const mailgun = findProvider('mailgun');
  const signed = mailgun.sign(mailgun.sample('delivered', { now: clock.now(), token: 'a1' }), settings, clock.now());
  const text = Buffer.from(signed.body).toString();
  const send = async (body: string) =>
    (await source.receive(new Request('http://localhost/', { method: 'POST', body, headers: signed.headers }))).status;
  expect(await send(text)).toBe(200);
  await clock.advance(19 * DAY_MS);
  expect(await send(text.replace('"id":"a1"', '"id":"forged"'))).toBe(401);
});
