/** What a user may say about an endpoint, checked and turned into the record's fields. */
import { invalid } from '../errors.ts';
import { eventTypeName } from '../inbound/providers/index.ts';
import type { Endpoint } from '../model/index.ts';
import { closest } from '../policy/index.ts';
import type { Store } from '../store/index.ts';
import type { Context } from './context.ts';
import { checkHeaders } from './endpoint-headers.ts';
import { aliased, over, present } from './fields.ts';
import { checkMetadata, checkNames, checkRate, checkUid } from './names.ts';
import { checkPolicyRef, type PolicyInput } from './policy-refs.ts';
import { text } from './text.ts';

export interface EndpointInput {
  readonly url: string;
  readonly uid?: string | null;
  readonly description?: string;
  readonly version?: number;
  readonly disabled?: boolean;
  readonly rateLimit?: number | null;
  readonly throttleRate?: number | null;
  readonly maxInFlight?: number | null;
  readonly eventTypes?: readonly string[] | null;
  readonly filterTypes?: readonly string[] | null;
  readonly channels?: readonly string[] | null;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>> | null;
  /** `whsec_…` or `whsk_…`; one is made without it. Afterwards only `rotate` changes it. */
  readonly secret?: string | null;
  readonly policy?: PolicyInput | null;
}

export type EndpointFields = Omit<Endpoint, 'id' | 'applicationId' | 'secrets' | 'createdAt' | 'updatedAt'>;

const MAX_URL_LENGTH = 4096;
const CHANNELS = { min: 1, max: 10 };
const EVENT_TYPES = { min: 1, max: 1000 };
const MAX_IN_FLIGHT = 10_000;

/** The input's fields over those of `base`: an absent one is the base's, a null one is none. */
export async function readEndpointFields(
  context: Context,
  input: Partial<EndpointInput>,
  base: EndpointFields,
  ownerId: string,
): Promise<EndpointFields> {
  const { store } = context;
  const rate = aliased(input, 'rateLimit', 'throttleRate');
  const types = aliased(input, 'eventTypes', 'filterTypes');
  // What is wrong is told under the name that the caller gave it.
  const rateName = input.rateLimit === undefined ? 'throttleRate' : 'rateLimit';
  const typesName = input.eventTypes === undefined ? 'filterTypes' : 'eventTypes';
  return {
    url: input.url === undefined ? base.url : checkEndpointUrl(context, input.url),
    description: text(input.description ?? base.description, ['body', 'description'], { min: 0, max: 4096 }),
    version: input.version ?? base.version,
    metadata: over(input.metadata, base.metadata, (given) => checkMetadata(given, ['body', 'metadata'])) ?? {},
    headers: over(input.headers, base.headers, (given) => checkHeaders(given, ['body', 'headers'])) ?? {},
    ...present({
      uid: over(input.uid, base.uid, (given) => checkUid(given, 'ep', ['body', 'uid'])),
      rateLimit: over(rate, base.rateLimit, (given) => checkRate(given, ['body', rateName])),
      maxInFlight: over(input.maxInFlight, base.maxInFlight, checkRoom),
      channels: over(input.channels, base.channels, (given) => checkNames(given, ['body', 'channels'], CHANNELS)),
      eventTypes: await over(types, base.eventTypes, (given) =>
        checkEventTypes(store, given, ownerId, ['body', typesName]),
      ),
      policy: await over(input.policy, base.policy, (given) => checkPolicyRef(store, given, ['body', 'policy'])),
    }),
  };
}

/** The URL in its normal form. What it names is looked at again each time it is dialled: names may change. */
function checkEndpointUrl({ guard }: Context, url: string): string {
  const loc = ['body', 'url'];
  const verdict = guard.checkUrl(text(url, loc, { min: 1, max: MAX_URL_LENGTH }));
  if (verdict.ok) return verdict.url.href;
  if (verdict.problem === 'invalid_url') {
    throw invalid(loc, `cannot be sent to: ${verdict.reason}; give an absolute URL such as https://example.com/hooks`);
  }
  throw invalid(loc, `may not be sent to: ${verdict.reason}`);
}

async function checkEventTypes(
  store: Store,
  given: readonly string[],
  ownerId: string,
  loc: readonly string[],
): Promise<readonly string[]> {
  // What a provider sends is the provider's to name: nobody registers it here, and it is stored under a name made of that.
  if (ownerId.startsWith('src_')) return checkNames(given.map(storedName), loc, EVENT_TYPES);
  const names = checkNames(given, loc, EVENT_TYPES);
  const found = await Promise.all(names.map((name) => store.get({ kind: 'eventType', idOrName: name })));
  const index = found.findIndex((stored, at) => stored?.record.name !== names[at]);
  const unknown = names[index];
  if (unknown === undefined) return names;
  const known = await store.list({ kind: 'eventType', limit: 250, order: 'ascending' });
  const near = closest(
    unknown,
    known.items.map(({ record }) => record.name),
  );
  const hint =
    near === undefined ? 'create it first (eventTypes.create, POST /api/v1/event-type)' : `did you mean "${near}"?`;
  throw invalid([...loc, `[${index}]`], `there is no event type ${JSON.stringify(unknown)}; ${hint}`);
}

/** What is no text is told as such by the check of names. */
function storedName(type: string): string {
  return typeof type === 'string' ? eventTypeName(type) : type;
}

function checkRoom(maxInFlight: number): number {
  if (Number.isInteger(maxInFlight) && maxInFlight >= 1 && maxInFlight <= MAX_IN_FLIGHT) return maxInFlight;
  throw invalid(['body', 'maxInFlight'], `must be a whole number from 1 to ${MAX_IN_FLIGHT}`);
}
