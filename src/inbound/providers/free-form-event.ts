/** Id and type of a sender that we know nothing about: its owner says where they are. */
import { invalid } from '../../errors.ts';
import { header } from './header.ts';
import { type InboundEvent, inboundEvent } from './inbound-event.ts';
import { at, parseObject } from './json-body.ts';
import type { InboundRequest, SettingSpecs } from './provider.ts';
import { one, type SettingValues } from './settings.ts';

export const FREE_FORM_SETTINGS = {
  eventTypeHeader: { doc: 'the header that holds the event type' },
  eventTypePath: {
    doc: 'where the JSON body holds the event type, names joined by dots: data.type (without either: type or event)',
  },
  eventIdHeader: { doc: 'the header that holds an id which stays the same on retries' },
  eventIdPath: {
    doc: 'where the JSON body holds that id, names joined by dots: a string, or a number below 2^53 (without either, the body tells repeats)',
  },
} as const satisfies SettingSpecs;

/** For bodies that are no JSON, or say no type, when nobody said where to look. */
const UNTYPED = 'webhook';

export function freeFormEvent(request: InboundRequest, settings: SettingValues): InboundEvent {
  // Parsed once, and only when something in it is asked for.
  let parsed: unknown;
  const body = () => (parsed ??= parseObject(request.body));
  const find = (what: 'eventType' | 'eventId'): unknown => {
    const [name, path] = [one(settings, `${what}Header`)?.toLowerCase(), one(settings, `${what}Path`)];
    if (name === undefined && path === undefined) return undefined;
    const found = (name === undefined ? undefined : header(request, name)) ?? (path && at(body(), ...path.split('.')));
    if (found === undefined || found === '') {
      throw invalid(
        ['body'],
        `has no ${what === 'eventId' ? 'event id' : 'event type'} where the source's settings say: ${name ?? path}`,
      );
    }
    if (what === 'eventId' && Number.isInteger(found) && !Number.isSafeInteger(found)) {
      throw invalid(
        ['body'],
        `has a number beyond 2^53 at ${path}, which reading JSON rounds: two ids could become one. Let the sender write the ` +
          'id as a string, or take eventIdPath out of the settings of the source: the hash of the body then tells repeats',
      );
    }
    return found;
  };
  const guessed = () =>
    [at(body(), 'type'), at(body(), 'event')].find((each) => typeof each === 'string' && each !== '');
  return inboundEvent({ id: find('eventId'), type: find('eventType') ?? guessed() ?? UNTYPED });
}

export const FREE_FORM_SAMPLES = {
  'order.paid': ({ token, now }: { token: string; now: number }) => ({
    body: { id: `evt-${token}`, type: 'order.paid', at: new Date(now).toISOString(), order: { id: 1, total: 20 } },
  }),
};
