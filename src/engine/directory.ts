/**
 * Who gets what: each application's or source's endpoints, ready to be sent to (policy resolved, secrets opened, signer built, URL
 * parsed), kept in memory and read again after a change. The store checks the fan-out revision at accept, so a stale
 * entry can never choose the deliveries of a message.
 */
import type { Clock } from '../clock.ts';
import { describeError } from '../errors.ts';
import type { Endpoint, EndpointHealth, Policy, PolicyRef, Source } from '../model/index.ts';
import { maxAttempts } from '../policy/index.ts';
import { createSigner, liveSecrets, nextExpiry, type SecretBox, type Signer } from '../signing/index.ts';
import type { Store, Stored } from '../store/index.ts';

/** An endpoint as the engine uses it. */
export interface Target {
  readonly endpoint: Endpoint;
  /** Sent over HTTP, or run as a function of this process. */
  readonly kind: 'http' | 'handler';
  /** What is received is sent on as its source says; undefined for an application's endpoints. */
  readonly forwardAs: Source['forwardAs'] | undefined;
  readonly url: URL;
  readonly policy: Policy;
  readonly maxAttempts: number;
  /** Undefined when its secrets cannot be opened: `signerProblem` says why. */
  readonly signer: Signer | undefined;
  readonly signerProblem: string;
  /** Custom headers as a flat name, value list. */
  readonly headers: readonly string[];
  readonly headerNames: readonly string[];
  health: EndpointHealth;
}

export interface Audience {
  readonly applicationId: string;
  readonly fanoutRevision: number;
  readonly targets: ReadonlyMap<string, Target>;
  /** When the next rotated secret runs out and its signer must be built anew. */
  readonly freshUntil: number;
}

export interface DirectoryOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly secretBox: SecretBox;
  readonly defaultPolicy: PolicyRef;
  /** A preset by its name. */
  readonly preset: (name: string) => Policy | undefined;
}

const MAX_AUDIENCES = 10_000;
const ENDPOINTS_PER_READ = 250;
/** Other processes tell what they change; what was told while nobody could hear it is found out by reading again. */
const LONGEST_UNCHECKED_MS = 30_000;

export class Directory {
  readonly #options: DirectoryOptions;
  /** By application id and, beside it, by the uid it was asked for under. */
  readonly #audiences = new Map<string, Audience>();
  readonly #loading = new Map<string, Promise<Audience | undefined>>();
  #generation = 0;

  constructor(options: DirectoryOptions) {
    this.#options = options;
  }

  /** What is in memory, without waiting. */
  peek(application: string): Audience | undefined {
    const audience = this.#audiences.get(application);
    return audience !== undefined && audience.freshUntil > this.#options.clock.now() ? audience : undefined;
  }

  async audience(application: string): Promise<Audience | undefined> {
    const known = this.peek(application);
    if (known !== undefined) return known;
    const underWay = this.#loading.get(application);
    if (underWay !== undefined) return underWay;
    const loading = this.#load(application).finally(() => this.#loading.delete(application));
    this.#loading.set(application, loading);
    return loading;
  }

  changed(applicationId?: string): void {
    this.#generation += 1;
    this.#loading.clear();
    if (applicationId === undefined) {
      this.#audiences.clear();
      return;
    }
    for (const [key, audience] of this.#audiences) {
      if (key === applicationId || audience.applicationId === applicationId) this.#audiences.delete(key);
    }
  }

  async #load(application: string): Promise<Audience | undefined> {
    const { store } = this.#options;
    const generation = this.#generation;
    const stored = await this.#owner(application);
    if (stored === undefined) return undefined;
    const forwardAs = 'forwardAs' in stored.record ? stored.record.forwardAs : undefined;
    const targets = new Map<string, Target>();
    const now = this.#options.clock.now();
    let freshUntil = store.soleProcess ? Number.POSITIVE_INFINITY : now + LONGEST_UNCHECKED_MS;
    for await (const endpoint of this.#endpointsOf(stored.record.id)) {
      const policy = await this.#resolve(endpoint.record.policy ?? stored.record.policy);
      targets.set(endpoint.record.id, this.#toTarget(endpoint, policy, forwardAs, now));
      freshUntil = Math.min(freshUntil, nextExpiry(endpoint.record.secrets, now) ?? freshUntil);
    }
    const audience = { applicationId: stored.record.id, fanoutRevision: stored.fanoutRevision, targets, freshUntil };
    // A change that came in meanwhile is not in what was read: use it once, keep nothing.
    if (generation === this.#generation) this.#keep(application, audience);
    return audience;
  }

  async #owner(idOrUid: string): Promise<Stored<'application'> | Stored<'source'> | undefined> {
    const { store } = this.#options;
    const source = idOrUid.startsWith('src_') ? await store.get({ kind: 'source', idOrName: idOrUid }) : undefined;
    return source ?? store.get({ kind: 'application', idOrName: idOrUid });
  }

  async *#endpointsOf(applicationId: string): AsyncGenerator<Stored<'endpoint'>> {
    let cursor: { key: string; direction: 'forward' } | undefined;
    for (;;) {
      const page = await this.#options.store.list({
        kind: 'endpoint',
        parentId: applicationId,
        limit: ENDPOINTS_PER_READ,
        order: 'ascending',
        ...(cursor === undefined ? {} : { cursor }),
      });
      yield* page.items;
      const last = page.items.at(-1);
      if (page.done || last === undefined) return;
      cursor = { key: last.record.id, direction: 'forward' };
    }
  }

  #keep(asked: string, audience: Audience): void {
    if (this.#audiences.size >= MAX_AUDIENCES) {
      const oldest = this.#audiences.keys().next().value;
      if (oldest !== undefined) this.#audiences.delete(oldest);
    }
    this.#audiences.set(audience.applicationId, audience);
    if (asked !== audience.applicationId) this.#audiences.set(asked, audience);
  }

  async #resolve(reference: PolicyRef | undefined): Promise<Policy> {
    const { defaultPolicy, preset, store } = this.#options;
    for (const candidate of [reference, defaultPolicy]) {
      if (candidate === undefined) continue;
      if (typeof candidate !== 'string') return candidate;
      const named = preset(candidate) ?? (await store.get({ kind: 'policy', idOrName: candidate }))?.record.policy;
      if (named !== undefined) return named;
    }
    throw new Error(`no policy is called ${String(defaultPolicy)}`);
  }

  #toTarget(
    { record, health }: Stored<'endpoint'>,
    policy: Policy,
    forwardAs: Target['forwardAs'],
    now: number,
  ): Target {
    return {
      endpoint: record,
      kind: record.id.startsWith('hdl_') ? 'handler' : 'http',
      forwardAs,
      url: new URL(record.url),
      policy,
      maxAttempts: maxAttempts(policy),
      ...this.#signerOf(record, now),
      headers: Object.entries(record.headers).flat(),
      headerNames: Object.keys(record.headers),
      health,
    };
  }

  /** One endpoint's unreadable secret must not stop the application's others. */
  #signerOf(record: Endpoint, now: number): Pick<Target, 'signer' | 'signerProblem'> {
    try {
      const secrets = liveSecrets(record.secrets, now).map(({ key }) => this.#options.secretBox.open(key));
      return { signer: createSigner(secrets), signerProblem: '' };
    } catch (error) {
      return { signer: undefined, signerProblem: describeError(error) };
    }
  }
}
