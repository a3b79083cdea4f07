/**
 * Resources as programs get them: a field that there is not is refused, because callers in plain JavaScript have no
 * compiler to tell them of `{ nmae: 'Acme' }`. The API has the others: clients made for Svix send what newer versions know.
 */
import type { ApplicationInput } from './applications.ts';
import { type KnownKeys, refuseUnknownKeys } from './argument.ts';
import type { AttemptQuery } from './attempts.ts';
import type { GroupQuery } from './dead-letter-group.ts';
import type { ReportQuery } from './dead-letter-report.ts';
import type { Part } from './dead-letter-selection.ts';
import type { DeadLetterQuery } from './dead-letters.ts';
import type { DeliveryQuery } from './delivery-query.ts';
import type { EndpointInput } from './endpoint-fields.ts';
import type { RotateInput } from './endpoint-secrets.ts';
import type { EndpointView } from './endpoints.ts';
import type { EventTypeInput } from './event-types.ts';
import type { MessageQuery, TimeQuery } from './message-query.ts';
import type { PublishInput, PublishOptions } from './messages.ts';
import type { PageRequest } from './paging.ts';
import type { PolicyChange, PolicyView, SimulateInput } from './policies.ts';
import type { Resources } from './resources.ts';
import type { SourceInput } from './source-fields.ts';
import type { RotateUrlOptions } from './source-url-tokens.ts';
import type { NewSecretInput, SourceView } from './sources.ts';
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
/** A filter that is not understood would answer everything. */
const query = (at: number, known: readonly string[]) => ({ at, noun: 'a field of this query', known });
const PAGE = { limit: true, iterator: true, order: true } as const;
const TIMED = { ...PAGE, before: true, after: true, eventTypes: true } as const;
const MARKED = { ...TIMED, channel: true, tag: true } as const;
const DIED = { application: true, source: true, diedAfter: true, diedBefore: true } as const;
const DELIVERY = {
  ...TIMED,
  ...DIED,
  endpoint: true,
  message: true,
  cause: true,
  fingerprint: true,
  error: true,
} as const;
const PAGES = keysOf<PageRequest>(PAGE);
const ATTEMPTS = { ...MARKED, outcome: true, statusClass: true } as const;

/** Who reads one, changes a field and gives the whole back means no harm by these. */
const STAMPS = ['id', 'createdAt', 'updatedAt'];
const OF_ENDPOINT: readonly (keyof EndpointView)[] = ['applicationId', 'health', 'effectivePolicy'];
const OF_SOURCE: readonly (keyof SourceView)[] = ['urlToken', 'formerUrls', 'formerSecrets', 'warning'];
const OF_POLICY: readonly (keyof PolicyView)[] = ['preset'];

const options = (at: number, known: readonly string[]) => ({ at, noun: 'an option', known, shown: ['remember'] });

export function strictResources(resources: Resources): Resources {
  const { applications, endpoints, eventTypes, messages, policies, sources, tokens } = resources;
  const { attempts, deadLetters, deliveries, messageLog } = resources;
  const application = { ...APPLICATION, at: 1, shown: STAMPS };
  const endpoint = { ...ENDPOINT, at: 2, shown: [...STAMPS, ...OF_ENDPOINT] };
  const eventType = { ...EVENT_TYPE, at: 1, shown: STAMPS };
  return {
    ...resources,
    messages: strict(messages, {
      publish: [{ ...MESSAGE, at: 0 }, options(1, keysOf<PublishOptions>({ client: true }))],
      list: [query(1, keysOf<MessageQuery>(MARKED))],
    }),
    messageLog: strict(messageLog, { list: [query(1, keysOf<TimeQuery>(TIMED))] }),
    attempts: strict(attempts, {
      listByEndpoint: [query(2, keysOf<AttemptQuery>(ATTEMPTS))],
      listByMessage: [query(2, keysOf<AttemptQuery & { endpoint: string }>({ ...ATTEMPTS, endpoint: true }))],
      listMessages: [query(2, keysOf<MessageQuery & { progress: string }>({ ...MARKED, progress: true }))],
      listDestinations: [query(2, PAGES)],
    }),
    deliveries: strict(deliveries, {
      list: [query(0, keysOf<DeliveryQuery & { states: string }>({ ...DELIVERY, states: true }))],
    }),
    deadLetters: strict(deadLetters, {
      list: [query(0, keysOf<DeadLetterQuery>({ ...DELIVERY, group: true }))],
      groups: [query(0, keysOf<GroupQuery>({ ...DIED, limit: true, iterator: true }))],
      report: [query(0, keysOf<ReportQuery>(DIED))],
      retryPart: [options(1, keysOf<Part>({ limit: true, iterator: true }))],
      discardPart: [options(1, keysOf<Part>({ limit: true, iterator: true }))],
    }),
    applications: strict(applications, {
      create: [{ ...APPLICATION, at: 0 }, options(1, ['getIfExists'])],
      update: [application],
      patch: [application],
      list: [query(0, PAGES)],
    }),
    endpoints: strict(endpoints, {
      create: [{ ...ENDPOINT, at: 1 }, options(2, [])],
      update: [endpoint],
      patch: [endpoint],
      list: [query(1, PAGES)],
      rotate: [options(2, keysOf<RotateInput>({ key: true, gracePeriodSeconds: true }))],
    }),
    tokens: strict(tokens, { create: [{ ...TOKEN, at: 0 }], list: [query(0, PAGES)] }),
    eventTypes: strict(eventTypes, {
      create: [{ ...EVENT_TYPE, at: 0 }, options(1, [])],
      update: [eventType],
      patch: [eventType],
      list: [query(0, [...PAGES, 'includeArchived'])],
      delete: [options(1, ['expunge'])],
    }),
    policies: strict(policies, {
      // One that was read may be the beginning of another.
      create: [{ ...POLICY, at: 0, shown: [...STAMPS, ...OF_POLICY] }, options(1, [])],
      update: [{ ...POLICY, at: 1, shown: [...STAMPS, ...OF_POLICY] }],
      list: [query(0, PAGES)],
      simulate: [SIMULATION],
    }),
    sources: strict(sources, {
      create: [{ ...SOURCE, at: 0 }, options(1, [])],
      update: [{ ...SOURCE, at: 1, shown: [...STAMPS, ...OF_SOURCE] }],
      list: [query(0, PAGES)],
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
