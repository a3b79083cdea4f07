/**
 * Resources as programs get them: a field that there is not is refused, because callers in plain JavaScript have no
 * compiler to tell them of `{ nmae: 'Acme' }`. The API has the others: clients made for Svix send what newer versions know.
 */
import type { ApplicationInput } from './applications.ts';
import { type KnownKeys, refuseUnknownKeys } from './argument.ts';
import type { EndpointInput } from './endpoint-fields.ts';
import type { RotateInput } from './endpoint-secrets.ts';
import type { EndpointView } from './endpoints.ts';
import type { EventTypeInput } from './event-types.ts';
import type { PublishInput, PublishOptions } from './messages.ts';
import type { PolicyChange, PolicyView, SimulateInput } from './policies.ts';
import type { Resources } from './resources.ts';
import type { RotateUrlOptions } from './source-url-tokens.ts';
import type { NewSecretInput, SourceInput, SourceView } from './sources.ts';
import type { TokenInput } from './tokens.ts';

/** The keys of an argument, by its place. */
interface Argument extends KnownKeys {
  readonly at: number;
}

/** In full: a field that is added to an input is missed here by the compiler. */
const keysOf = <T extends object>(keys: Record<keyof T, true>): readonly string[] => Object.keys(keys);

const owned = { uid: true, metadata: true, policy: true, rateLimit: true, throttleRate: true } as const;
const APPLICATION = { noun: 'a field of an application', known: keysOf<ApplicationInput>({ name: true, ...owned }) };
const ENDPOINT = {
  noun: 'a field of an endpoint',
  known: keysOf<EndpointInput>({
    ...owned,
    ...{ url: true, description: true, version: true, disabled: true, maxInFlight: true, eventTypes: true },
    ...{ filterTypes: true, channels: true, headers: true, secret: true },
  }),
};
const MESSAGE = {
  noun: 'a field of a message',
  known: keysOf<PublishInput>({
    ...{ application: true, eventType: true, payload: true, eventId: true, channels: true, tags: true },
    idempotencyKey: true,
  }),
};
const TOKEN = {
  noun: 'a field of a token',
  known: keysOf<TokenInput>({ name: true, scope: true, applicationId: true, expiresAt: true }),
};
const SOURCE = {
  noun: 'a field of a source',
  known: keysOf<SourceInput>({
    ...{ name: true, uid: true, provider: true, settings: true, policy: true, onUnknownEvent: true, dedupe: true },
    ...{ forwardAs: true, metadata: true },
  }),
};
const EVENT_TYPE = {
  noun: 'a field of an event type',
  known: keysOf<EventTypeInput>({
    ...{ name: true, description: true, archived: true, deprecated: true, groupName: true, featureFlag: true },
    schemas: true,
  }),
};
const POLICY = {
  noun: 'a field of a policy',
  known: keysOf<PolicyChange & { name: string }>({ name: true, description: true, policy: true }),
};
const SIMULATION = {
  at: 0,
  noun: 'an option of a simulation',
  known: keysOf<SimulateInput>({
    ...{ policy: true, failure: true, outageMs: true, attemptDurationMs: true, messageId: true, deliveryId: true },
    ...{ draws: true, seed: true },
  }),
};
/** Who reads one, changes a field and gives the whole back means no harm by these. */
const STAMPS = ['id', 'createdAt', 'updatedAt'];
const OF_ENDPOINT: readonly (keyof EndpointView)[] = ['applicationId', 'health', 'effectivePolicy'];
const OF_SOURCE: readonly (keyof SourceView)[] = ['urlToken', 'formerUrls', 'formerSecrets', 'warning'];
const OF_POLICY: readonly (keyof PolicyView)[] = ['preset'];

const options = (at: number, known: readonly string[]) => ({ at, noun: 'an option', known, shown: ['remember'] });

export function strictResources(resources: Resources): Resources {
  const { applications, endpoints, eventTypes, messages, policies, sources, tokens } = resources;
  const application = { ...APPLICATION, at: 1, shown: STAMPS };
  const endpoint = { ...ENDPOINT, at: 2, shown: [...STAMPS, ...OF_ENDPOINT] };
  const eventType = { ...EVENT_TYPE, at: 1, shown: STAMPS };
  return {
    ...resources,
    messages: strict(messages, {
      publish: [{ ...MESSAGE, at: 0 }, options(1, keysOf<PublishOptions>({ client: true }))],
    }),
    applications: strict(applications, {
      create: [{ ...APPLICATION, at: 0 }, options(1, ['getIfExists'])],
      update: [application],
      patch: [application],
    }),
    endpoints: strict(endpoints, {
      create: [{ ...ENDPOINT, at: 1 }, options(2, [])],
      update: [endpoint],
      patch: [endpoint],
      rotate: [options(2, keysOf<RotateInput>({ key: true, gracePeriodSeconds: true }))],
    }),
    tokens: strict(tokens, { create: [{ ...TOKEN, at: 0 }] }),
    eventTypes: strict(eventTypes, {
      create: [{ ...EVENT_TYPE, at: 0 }, options(1, [])],
      update: [eventType],
      patch: [eventType],
      delete: [options(1, ['expunge'])],
    }),
    policies: strict(policies, {
      // One that was read may be the beginning of another.
      create: [{ ...POLICY, at: 0, shown: [...STAMPS, ...OF_POLICY] }, options(1, [])],
      update: [{ ...POLICY, at: 1, shown: [...STAMPS, ...OF_POLICY] }],
      simulate: [SIMULATION],
    }),
    sources: strict(sources, {
      create: [{ ...SOURCE, at: 0 }, options(1, [])],
      update: [{ ...SOURCE, at: 1, shown: [...STAMPS, ...OF_SOURCE] }],
      declare: [{ ...SOURCE, at: 0 }],
      rotateSecret: [options(1, keysOf<NewSecretInput>({ secret: true, dropOld: true }))],
      rotateUrlToken: [options(1, keysOf<RotateUrlOptions>({ dropOld: true }))],
    }),
  };
}

function strict<R extends object>(resource: R, checks: { readonly [Method in keyof R]?: readonly Argument[] }): R {
  const methods = Object.entries(checks as Record<string, readonly Argument[]>).map(([name, all]) => {
    const call = resource[name as keyof R] as (...given: unknown[]) => Promise<unknown>;
    // Not async: that would be a promise more for every publish.
    const checked = (...given: unknown[]) => {
      try {
        for (const each of all) refuseUnknownKeys(given[each.at], each);
      } catch (error) {
        return Promise.reject(error);
      }
      return call(...given);
    };
    return [name, checked];
  });
  return { ...resource, ...Object.fromEntries(methods) };
}
