import { expect, it } from 'vitest';
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
  expect(await send(text)).toBe(202);
  expect(await send(text)).toBe(200);
  expect(await send(forged)).toBe(401);
  expect((await rig.messages('mailgun')).map(({ eventId }) => eventId)).toEqual(['a1']);
});
