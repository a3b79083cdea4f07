import { expect, it } from 'vitest';
import { createManualClock } from '../testing/manual-clock.ts';
import { DAY_MS } from './providers/durations.ts';
import { findProvider } from './providers/index.ts';
import { createInboundRig, type InboundRig } from './testing/inbound-rig.ts';

const mailgun = findProvider('mailgun');

/** What Mailgun signs at a time, and what sends another body with it. */
function signedAt(now: number, settings: { signingKey: string }) {
  const { body, headers } = mailgun.sign(mailgun.sample('delivered', { now, token: 'a1' }), settings, now);
  const text = Buffer.from(body).toString();
  const send = async (source: ReturnType<InboundRig['source']>, given = text) =>
    (await source.receive(new Request('http://localhost/', { method: 'POST', body: given, headers }))).status;
  return { text, forged: text.replace('"id":"a1"', '"id":"forged"'), send };
}

it("SUB-02 a token of Mailgun's is taken with one body: the same one again is a copy, another one is refused", async () => {
  await using rig = await createInboundRig();
  const settings = { signingKey: 'key-1' };
  const source = rig.source('mailgun', { settings });
  const { text, forged, send } = signedAt(Date.now(), settings);
  expect(forged).not.toBe(text);
  expect(await send(source)).toBe(200);
  expect(await send(source)).toBe(200);
  expect(await send(source, forged)).toBe(401);
  expect((await rig.messages('mailgun')).map(({ eventId }) => eventId)).toEqual(['a1']);
});

it("SUB-02 a token of Mailgun's stays bound to its body for as long as the source takes its timestamp", async () => {
  const clock = createManualClock();
  await using rig = await createInboundRig({ clock, takesWork: false, leaseMs: 90 * DAY_MS });
  const settings = { signingKey: 'key-1', toleranceSeconds: String((20 * DAY_MS) / 1000) };
  const source = rig.source('mailgun', { settings });
  // By a clock that is ahead of ours by nearly all that the source takes.
  const { forged, send } = signedAt(clock.now() + 19 * DAY_MS, settings);
  expect(await send(source)).toBe(200);
  for (const days of [19, 19]) {
    await clock.advance(days * DAY_MS);
    expect(await send(source, forged)).toBe(401);
  }
  expect(rig.log.at(-1)?.fields.reason).toBe('what was signed has come before with another body');
});

it("SUB-02 a token of Mailgun's is taken once by each source that has its key", async () => {
  await using rig = await createInboundRig();
  const settings = { signingKey: 'key-1' };
  const { forged, send } = signedAt(Date.now(), settings);
  for (const name of ['mail', 'audit']) {
    const source = rig.source(name, { provider: 'mailgun', settings });
    expect(await send(source)).toBe(200);
    expect(await send(source, forged)).toBe(401);
    expect(await rig.messages(name)).toHaveLength(1);
  }
});
