import { expect, it } from 'vitest';
import { findProvider } from '../inbound/providers/index.ts';
import { makeEvent } from './make-event.ts';

it.each([
  ['in the body', { eventTypePath: 'kind', eventIdPath: 'id' }],
  ['deeper in the body than the sample goes', { eventTypePath: 'meta.event.kind', eventIdPath: 'order.id' }],
  ['in headers', { eventTypeHeader: 'X-Kind', eventIdHeader: 'X-Id' }],
  ['nowhere in particular', {}],
])('a sample for a sender of no known form has its type and id where the settings say: %s', (_, where) => {
  const provider = findProvider('generic-hmac');
  const settings = { secret: 'between us', ...where };
  const url = new URL('http://127.0.0.1/in/partner');
  const event = makeEvent(
    { provider, eventType: 'order.paid', settings, isSigned: true, fields: [], url },
    Date.now(),
    'a1',
  );
  const id = 'eventIdPath' in where || 'eventIdHeader' in where ? { id: 'evt-a1' } : {};
  expect(provider.prepare(settings).eventOf(event)).toEqual({ type: 'order.paid', ...id });
});
