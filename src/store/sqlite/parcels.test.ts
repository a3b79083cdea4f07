import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AcceptInput, AcceptOutput, AcceptResult, RecordInput } from '../store.ts';
import type { Reply, Request } from './executor.ts';
import { pack, packReply, unpack, unpackReply } from './parcels.ts';

const text = fc.string({ unit: 'binary', maxLength: 40 });
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const texts = fc.array(text, { maxLength: 3 });

const message = fc.record({
  id: text,
  applicationId: text,
  eventId: optional(text),
  eventType: text,
  channels: optional(texts),
  tags: optional(texts),
  payload: fc.uint8Array({ maxLength: 200 }),
  createdAt: fc.nat(),
  headers: optional(fc.dictionary(text, text, { maxKeys: 4, noNullPrototype: true })),
  contentType: optional(text),
});
const remember = fc.record({ key: text, fingerprint: text, status: fc.nat(), body: text, expiresAt: fc.nat() });
const accepts = fc.record({
  epoch: fc.nat(),
  now: fc.nat(),
  items: fc.array(
    fc.record({
      message,
      fanoutRevision: fc.nat(),
      deliveries: fc.array(
        fc.record({ id: text, destinationId: text, state: fc.constantFrom('pending', 'leased', 'held') }),
        { maxLength: 4 },
      ),
      remember: optional(remember),
    }),
    { maxLength: 6 },
  ),
});
const decision = fc.oneof(
  fc.record({ kind: fc.constant('delivered'), reason: text }),
  fc.record({ kind: fc.constant('retry'), reason: text, delayMs: fc.nat() }),
  fc.record({ kind: fc.constant('dead'), reason: text, cause: text }),
);
const attempt = fc.record({
  id: text,
  deliveryId: text,
  messageId: text,
  applicationId: text,
  destinationId: text,
  eventType: text,
  number: fc.nat(),
  trigger: text,
  url: text,
  startedAt: fc.nat(),
  durationMs: fc.nat(),
  status: fc.nat(),
  error: optional(text),
  response: text,
  responseTruncated: fc.boolean(),
  decision,
});
const records = fc.record({
  epoch: fc.nat(),
  now: fc.nat(),
  items: fc.array(
    fc.record({ attempt, scheduleAttempts: fc.nat(), firstAttemptAt: fc.nat(), maxAttempts: optional(fc.nat()) }),
    { maxLength: 6 },
  ),
});

/** As they are stored. */
function withHeadersAsText(input: AcceptInput): object {
  const items = input.items.map((item) => {
    const { headers } = item.message;
    return { ...item, message: { ...item.message, headers: headers && JSON.stringify(headers) } };
  });
  return { ...input, items };
}

/** To the other thread. */
function sent(request: Request): Request {
  const { parcels, buffers } = pack([request]);
  const [parcel] = structuredClone(parcels, { transfer: buffers });
  return unpack(parcel ?? request);
}

describe('what crosses to the thread of the store', () => {
  it('is the accept that was asked for: every message byte by byte, every delivery', () => {
    fc.assert(
      fc.property(accepts, (input) => {
        expect(sent({ id: 7, name: 'accept', input }).input).toEqual(withHeadersAsText(input as AcceptInput));
      }),
    );
  });

  it('leaves the payloads to whoever sends them', () => {
    const payload = new Uint8Array([1, 2, 3]);
    const message = { id: 'm', applicationId: 'a', eventType: 't', payload, createdAt: 1 };
    sent({
      id: 1,
      name: 'accept',
      input: { epoch: 1, now: 1, items: [{ message, fanoutRevision: 1, deliveries: [] }] },
    });
    expect([...payload]).toEqual([1, 2, 3]);
  });

  it('is the record that was asked for', () => {
    fc.assert(
      fc.property(records, (input) => {
        expect(sent({ id: 7, name: 'record', input }).input as RecordInput).toEqual(input);
      }),
    );
  });

  it('is any other request as it is', () => {
    const request: Request = { id: 3, name: 'leave', input: { epoch: 4 } };
    expect(sent(request)).toEqual(request);
  });

  it('comes back as the answer that was given, or the error', () => {
    const results: AcceptResult[] = [
      { kind: 'accepted' },
      { kind: 'stale' },
      { kind: 'duplicate', by: 'eventId', messageId: 'msg_1', samePayload: true },
      { kind: 'missing' },
      { kind: 'accepted' },
    ];
    const output: AcceptOutput = { fenced: true, results };
    const accept: Request = { id: 1, name: 'accept', input: {} };
    const replies: Reply[] = [
      { id: 1, ok: true, output },
      { id: 1, ok: false, error: { message: 'no' } },
    ];
    for (const reply of replies) expect(unpackReply(structuredClone(packReply(reply, accept)))).toEqual(reply);
  });

  it('comes back with which leases were lost', () => {
    const record: Request = { id: 1, name: 'record', input: {} };
    const reply: Reply = {
      id: 1,
      ok: true,
      output: { endpoints: [], results: ['recorded', 'lease_lost', 'recorded'] },
    };
    expect(unpackReply(structuredClone(packReply(reply, record)))).toEqual(reply);
  });
});
