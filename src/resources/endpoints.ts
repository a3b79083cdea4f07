import { invalid } from '../errors.ts';
import { randomSecret } from '../ids.ts';
import type { Application, Endpoint, EndpointHealth, EndpointStatus } from '../model/index.ts';
import { HEALTHY } from '../model/index.ts';
import { generateSecret, parseSecret } from '../signing/index.ts';
import type { Stored } from '../store/index.ts';
import { objectArgument, textArgument } from './argument.ts';
import type { Context, Made, Remember } from './context.ts';
import { type EndpointFields, type EndpointInput, readEndpointFields } from './endpoint-fields.ts';
import { checkHeaders, type Headers, mergeHeaders, redactHeaders } from './endpoint-headers.ts';
import { currentSecret, type RotateInput, rotateSecret } from './endpoint-secrets.ts';
import { findApplication, findEndpoint } from './lookup.ts';
import { doneAlready, missing, taken } from './missing.ts';
import { type Listing, listing, type PageRequest, pageInput } from './paging.ts';
import { revise } from './revise.ts';
import { text } from './text.ts';

/** An endpoint as it is shown: without secrets and headers, which have ways of their own, and with its health. */
export interface EndpointView extends Omit<Endpoint, 'secrets' | 'headers'> {
  readonly health: EndpointHealth;
  /** The name of the policy that it follows, be it its own, its application's or the default; `inline` without one. */
  readonly effectivePolicy: string;
}

/** `app` and `endpoint` are ids or uids throughout; `app` may also be the id of a source. */
export interface Endpoints {
  create(
    app: string,
    input: EndpointInput,
    options?: { readonly remember?: Remember<EndpointView> | undefined },
  ): Promise<EndpointView>;
  get(app: string, endpoint: string): Promise<EndpointView>;
  /** Newest first. */
  list(app: string, page?: PageRequest): Promise<Listing<EndpointView>>;
  /** Replaces it whole but for its secret, its headers and a pause; creates one when there is none. */
  update(app: string, endpoint: string, input: EndpointInput): Promise<Made<EndpointView>>;
  patch(app: string, endpoint: string, patch: Partial<EndpointInput>): Promise<EndpointView>;
  /** Its open deliveries are cancelled; what was attempted stays readable. */
  delete(app: string, endpoint: string): Promise<void>;

  /** What the receiver verifies with: the `whsec_` secret, or the `whpk_` half of a `whsk_` one. */
  getSecret(app: string, endpoint: string): Promise<string>;
  rotate(app: string, endpoint: string, input?: RotateInput): Promise<void>;

  getHeaders(app: string, endpoint: string): Promise<{ headers: Headers; sensitive: string[] }>;
  putHeaders(app: string, endpoint: string, headers: Headers): Promise<void>;
  /** null takes a header away. */
  patchHeaders(app: string, endpoint: string, changes: Readonly<Record<string, string | null>>): Promise<void>;

  /** Nothing is sent until `resume`; what comes meanwhile is held. */
  pause(app: string, endpoint: string, reason?: string): Promise<EndpointView>;
  /** Active again, failures forgotten, and what was held is sent, oldest first. */
  resume(app: string, endpoint: string): Promise<EndpointView>;
}

type Shown = Pick<Stored<'endpoint'>, 'record' | 'health'>;
const BLANK: EndpointFields = { url: '', description: '', version: 1, metadata: {}, headers: {} };

export function createEndpoints(context: Context): Endpoints {
  const { store, engine, clock, ids, secretBox, defaultPolicy } = context;

  function view({ record, health }: Shown, application: Pick<Application, 'policy'>): EndpointView {
    const { secrets: _, headers: __, ...rest } = record;
    const policy = record.policy ?? application.policy ?? defaultPolicy;
    return { ...rest, health, effectivePolicy: typeof policy === 'string' ? policy : 'inline' };
  }

  async function viewOf(stored: Shown): Promise<EndpointView> {
    return view(stored, await findApplication(store, stored.record.applicationId));
  }

  async function find(app: string, endpoint: string): Promise<Stored<'endpoint'>> {
    return findEndpoint(store, (await findApplication(store, app)).id, endpoint);
  }

  async function change(
    app: string,
    endpoint: string,
    to: (current: Endpoint) => Partial<Endpoint> | Promise<Partial<Endpoint>>,
  ): Promise<Stored<'endpoint'>> {
    const stored = await revise(store, {
      kind: 'endpoint',
      what: 'endpoint',
      find: () => find(app, endpoint),
      change: async ({ record }) => ({ ...record, ...(await to(record)), updatedAt: clock.now() }),
    });
    engine.changed(stored.record.applicationId);
    return stored;
  }

  /** The user's fields from the input over `base`, the rest as it is. */
  async function changeFields(
    app: string,
    endpoint: string,
    input: Partial<EndpointInput>,
    base: (current: Endpoint) => EndpointFields,
  ): Promise<EndpointView> {
    const stored = await revise(store, {
      kind: 'endpoint',
      what: 'endpoint',
      find: () => find(app, endpoint),
      change: async ({ record }) => {
        if (input.secret !== undefined && input.secret !== null) checkSameSecret(record, input.secret);
        if (record.id.startsWith('hdl_') && input.url !== undefined) throw aHandler();
        const { id, applicationId, secrets, createdAt } = record;
        const fields = await readEndpointFields(context, input, base(record), applicationId);
        return { id, applicationId, ...fields, secrets, createdAt, updatedAt: clock.now() };
      },
    });
    engine.changed(stored.record.applicationId);
    return viewOf(stored);
  }

  async function setStatus(stored: Stored<'endpoint'>, status: EndpointStatus, reason: string): Promise<EndpointView> {
    const { record } = stored;
    const health = await store.setStatus({ endpointId: record.id, status, reason, now: clock.now() });
    if (health === undefined) throw missing('endpoint', record.id);
    engine.changed(record.applicationId);
    engine.wake();
    return viewOf({ ...stored, health });
  }

  /** `disabled` as a client says it: true stops an active endpoint, false starts one that is stopped in any way. */
  async function setDisabled(current: EndpointView, disabled: boolean | undefined): Promise<EndpointView> {
    const active = current.health.status === 'active';
    if (disabled === undefined || disabled !== active) return current;
    const stored = await findEndpoint(store, current.applicationId, current.id);
    return disabled ? setStatus(stored, 'disabled', 'disabled by its owner') : setStatus(stored, 'active', '');
  }

  function checkSameSecret(endpoint: Endpoint, secret: string): void {
    parseSecret(secret, ['body', 'secret']);
    const [current] = endpoint.secrets;
    if (current !== undefined && secretBox.open(current.key) === secret) return;
    throw invalid(['body', 'secret'], 'cannot be changed here; POST it as "key" to …/secret/rotate');
  }

  const endpoints: Endpoints = {
    async create(app, input, { remember } = {}) {
      const application = await findApplication(store, app);
      const { id: applicationId } = application;
      const given = objectArgument(input).secret ?? undefined;
      if (given !== undefined) parseSecret(given, ['body', 'secret']);
      const fields = await readEndpointFields(context, { ...input, url: input.url ?? '' }, BLANK, applicationId);
      const key = secretBox.seal(given ?? generateSecret('hmac', randomSecret));
      const now = clock.now();
      const times = { createdAt: now, updatedAt: now };
      const record: Endpoint = {
        id: ids.next('ep'),
        applicationId,
        ...fields,
        secrets: [{ key, createdAt: now }],
        ...times,
      };
      const health: EndpointHealth = input.disabled
        ? { ...HEALTHY, status: 'disabled', reason: 'disabled by its owner' }
        : HEALTHY;
      const made = view({ record, health }, application);
      const kept = remember && { remember: remember(made) };
      const result = await store.insert({ kind: 'endpoint', record, health, ...kept });
      if (result === 'missing') throw missing('application', app);
      if (result === 'duplicate') throw doneAlready();
      if (result === 'conflict') throw taken('An endpoint with uid', fields.uid ?? record.id);
      engine.changed(applicationId);
      return made;
    },

    async get(app, endpoint) {
      const application = await findApplication(store, app);
      return view(await findEndpoint(store, application.id, endpoint), application);
    },

    async list(app, request = {}) {
      const application = await findApplication(store, app);
      const order = pageInput(request, { prefix: 'ep', order: 'descending' });
      const page = await store.list({ kind: 'endpoint', parentId: application.id, ...order });
      return listing(
        page,
        ({ record }) => record.id,
        (stored) => view(stored, application),
      );
    },

    async update(app, endpoint, input) {
      const { id: parentId } = await findApplication(store, app);
      objectArgument(input);
      const idOrName = textArgument(endpoint, 'endpoint');
      const existing = await store.get({ kind: 'endpoint', idOrName, parentId });
      if (existing === undefined) return { record: await endpoints.create(parentId, input), created: true };
      const record = await changeFields(parentId, existing.record.id, input, ({ headers }) => ({ ...BLANK, headers }));
      // Left out means not disabled, as in any full replacement; a pause and a failure are not part of the record.
      const wanted = input.disabled ?? (record.health.status === 'disabled' ? false : undefined);
      return { record: await setDisabled(record, wanted), created: false };
    },

    async patch(app, endpoint, patch) {
      const record = await changeFields(app, endpoint, objectArgument(patch, 'patch'), (current) => current);
      return setDisabled(record, patch.disabled);
    },

    async delete(app, endpoint) {
      const { record } = await find(app, endpoint);
      await store.remove({ kind: 'endpoint', id: record.id, now: clock.now() });
      engine.changed(record.applicationId);
      engine.wake();
    },

    getSecret: async (app, endpoint) => currentSecret(context, (await find(app, endpoint)).record),

    async rotate(app, endpoint, input = {}) {
      await change(app, endpoint, ({ secrets }) => ({ secrets: rotateSecret(context, secrets, input) }));
    },

    getHeaders: async (app, endpoint) => redactHeaders((await find(app, endpoint)).record.headers),

    async putHeaders(app, endpoint, headers) {
      const checked = checkHeaders(headers, ['body', 'headers']);
      await change(app, endpoint, () => ({ headers: checked }));
    },

    async patchHeaders(app, endpoint, changes) {
      await change(app, endpoint, ({ headers }) => ({ headers: mergeHeaders(headers, changes, ['body', 'headers']) }));
    },

    async pause(app, endpoint, reason) {
      const why = text(reason ?? 'paused by a person', ['body', 'reason'], { min: 1, max: 1024 });
      return setStatus(await find(app, endpoint), 'paused', why);
    },

    resume: async (app, endpoint) => setStatus(await find(app, endpoint), 'active', ''),
  };
  return endpoints;
}

function aHandler() {
  return invalid(['body', 'url'], 'cannot be set: this is a handler, a function of the process that declared it');
}
