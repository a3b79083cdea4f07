/** Sources ready to receive: settings opened and keys made once, and looked at again after a moment or a change. */
import type { Clock } from '../clock.ts';
import type { Source } from '../model/index.ts';
import { openSettings, openUrlTokens, secretsIn } from '../resources/index.ts';
import type { SecretBox } from '../signing/index.ts';
import type { Store } from '../store/index.ts';
import { findProvider, type PreparedProvider, type Provider } from './providers/index.ts';
import { createUrlCheck, type UrlCheck } from './url-check.ts';

export interface OpenSource {
  readonly source: Source;
  readonly provider: Provider;
  readonly prepared: PreparedProvider;
  readonly secrets: readonly string[];
  readonly checkUrl: UrlCheck;
}

interface Known extends OpenSource {
  readonly revision: number;
  readonly lookAgainAt: number;
}

/** Another node may have changed it: a new secret counts everywhere within this time. */
const FRESH_MS = 1000;
const MOST_KEPT = 10_000;

export class OpenSources {
  readonly #options: { readonly store: Store; readonly clock: Clock; readonly secretBox: SecretBox };
  readonly #known = new Map<string, Known>();
  /** Lookups under way: whoever needs one that has begun, and that no change has overtaken, waits for it. */
  readonly #lookups = new Map<string, Promise<OpenSource | undefined>>();

  constructor(options: { readonly store: Store; readonly clock: Clock; readonly secretBox: SecretBox }) {
    this.#options = options;
  }

  /** What was looked at a moment ago, without waiting; it is looked at again before that is too long ago. */
  peek(idOrUid: string): OpenSource | undefined {
    const known = this.#known.get(idOrUid);
    if (known === undefined) return undefined;
    const now = this.#options.clock.now();
    if (known.lookAgainAt <= now) return undefined;
    // If that fails, who comes when the time is over finds out why.
    if (known.lookAgainAt - FRESH_MS / 2 <= now) this.find(idOrUid).catch(() => {});
    return known;
  }

  find(idOrUid: string): Promise<OpenSource | undefined> {
    const begun = this.#lookups.get(idOrUid);
    if (begun !== undefined) return begun;
    const isCurrent = () => this.#lookups.get(idOrUid) === lookup;
    const lookup = this.#look(idOrUid, isCurrent).finally(() => {
      if (isCurrent()) this.#lookups.delete(idOrUid);
    });
    this.#lookups.set(idOrUid, lookup);
    return lookup;
  }

  /** What it finds is kept unless a change has overtaken it. */
  async #look(idOrUid: string, isCurrent: () => boolean): Promise<OpenSource | undefined> {
    const { store, clock, secretBox } = this.#options;
    const known = this.#known.get(idOrUid);
    const lookAgainAt = clock.now() + FRESH_MS;
    const stored = await store.get({ kind: 'source', idOrName: idOrUid });
    if (stored === undefined) {
      if (isCurrent()) this.#known.delete(idOrUid);
      return undefined;
    }
    const { record: source, revision } = stored;
    if (known !== undefined && known.source.id === source.id && known.revision === revision) {
      if (isCurrent()) this.#known.set(idOrUid, { ...known, lookAgainAt });
      return known;
    }
    const provider = findProvider(source.provider);
    const settings = openSettings(secretBox, source);
    const prepared = provider.prepare(settings);
    const urlTokens = openUrlTokens(secretBox, source);
    // Proxies put the URL into headers of theirs, and its token with it.
    const inUrls = urlTokens?.flatMap(({ token }) => (token === '' ? [] : [token])) ?? [];
    const secrets = [...secretsIn(provider, settings), ...inUrls];
    const opened = {
      source,
      provider,
      prepared,
      secrets,
      checkUrl: createUrlCheck(urlTokens),
      revision,
      lookAgainAt,
    };
    if (!isCurrent()) return opened;
    if (this.#known.size >= MOST_KEPT) this.#known.clear();
    this.#known.set(idOrUid, opened);
    return opened;
  }

  /** Forgets one, or all. */
  changed(sourceId?: string): void {
    this.#lookups.clear();
    if (sourceId === undefined) this.#known.clear();
    for (const [key, { source }] of this.#known) if (source.id === sourceId) this.#known.delete(key);
  }
}
