import type { ProviderSettings } from '../inbound/providers/index.ts';
import type { PolicyRef, Source } from '../model/index.ts';
import type { Stored } from '../store/index.ts';
import { objectArgument, textArgument } from './argument.ts';
import type { Context, Made, Remember } from './context.ts';
import { present } from './fields.ts';
import { missingSource, taken } from './missing.ts';
import { isUid } from './names.ts';
import { type Listing, listing, type PageRequest, pageInput } from './paging.ts';
import { checkPolicyRef } from './policy-refs.ts';
import { revise } from './revise.ts';
import { checkSourceFields, type SourceInput } from './source-fields.ts';
import { createSourceHandlers, type SourceHandlers, sameFields } from './source-handlers.ts';
import {
  checkSettings,
  formerSecrets,
  openSettings,
  providerOf,
  sealSettings,
  secretsIn,
  shownSettings,
  withNewSecret,
  withSecretsOf,
} from './source-settings.ts';
import {
  type FormerUrl,
  formerUrls,
  openUrlTokens,
  type RotateUrlOptions,
  rotateUrlToken,
} from './source-url-tokens.ts';

export interface NewSecretInput {
  readonly secret: string;
  /** From now on the new one alone. */
  readonly dropOld?: boolean;
}

/** A source as it is shown: its settings without the secrets, and what to beware of. */
export interface SourceView extends Omit<Source, 'settings' | 'urlTokens'> {
  readonly settings: ProviderSettings;
  /** What follows it in its URL. A secret: not for everybody who may see a source. */
  readonly urlToken?: string;
  /** URLs of before a rotation that still work, the latest first. Absent where there are none. */
  readonly formerUrls?: readonly FormerUrl[];
  /** How many secrets of before a rotation still work, until they are dropped. Absent where there are none. */
  readonly formerSecrets?: number;
  readonly warning?: string;
}

interface DeclaredView extends SourceView {
  /** How many secrets were taken so far and are not any more, because the description names none of them. Absent for none. */
  readonly droppedSecrets?: number;
}

export interface Sources extends SourceHandlers {
  create(input: SourceInput, options?: { readonly remember?: Remember<SourceView> | undefined }): Promise<SourceView>;
  get(idOrUid: string): Promise<SourceView>;
  list(page?: PageRequest): Promise<Listing<SourceView>>;
  /**
   * Replaces it whole, or creates one when there is none. Settings that are left out stay; so do the secrets where others are
   * given and none of them, since that is how a source is shown. A uid that is left out stays too, because the receiving URL
   * is made of it, and a new source has the one that it was asked for by; null takes it away.
   */
  update(idOrUid: string, input: SourceInput): Promise<Made<SourceView>>;
  /** The one before the new secret is taken too, until it is dropped: the provider and we cannot change in one moment. */
  rotateSecret(idOrUid: string, input: NewSecretInput): Promise<SourceView>;
  /** Gives its URL a new token. The URL before it, with a token or without, is taken too for 48 hours, or dropped. */
  rotateUrlToken(idOrUid: string, options?: RotateUrlOptions): Promise<SourceView>;
  /** With its endpoints and handlers; open deliveries are cancelled. */
  delete(idOrUid: string): Promise<void>;
  /** Makes the source with this uid be as described; writes nothing when it is so already. */
  declare(input: SourceInput & { readonly uid: string }): Promise<DeclaredView>;
}

type Fields = Omit<Source, 'id' | 'createdAt' | 'updatedAt'>;

const DEFAULT_POLICY: PolicyRef = 'payments-inbound';
const NO_FIELDS: Fields = {
  name: '',
  provider: '',
  settings: '{}',
  policy: DEFAULT_POLICY,
  onUnknownEvent: 'keep',
  dedupe: { by: 'provider' },
  forwardAs: 'standard-webhooks',
  metadata: {},
};

export function createSources(context: Context): Sources {
  const { store, engine, clock, ids, secretBox } = context;

  function viewOf(source: Source): SourceView {
    const { settings: _, urlTokens: __, ...shown } = source;
    const provider = providerOf(source.provider);
    const settings = openSettings(secretBox, source);
    const urls = formerUrls(source, clock.now());
    const secrets = formerSecrets(provider, settings);
    return {
      ...shown,
      settings: shownSettings(provider, settings),
      ...present({ warning: provider.warning, urlToken: openUrlTokens(secretBox, source)?.[0]?.token }),
      ...(urls.length > 0 && { formerUrls: urls }),
      ...(secrets > 0 && { formerSecrets: secrets }),
    };
  }

  async function find(idOrUid: string): Promise<Stored<'source'> | undefined> {
    return store.get({ kind: 'source', idOrName: textArgument(idOrUid, 'source') });
  }

  async function require(idOrUid: string): Promise<Stored<'source'>> {
    const stored = await find(idOrUid);
    if (stored === undefined) throw missingSource(idOrUid);
    return stored;
  }

  /** The input's fields over those of `base`: an absent one is the base's, a null one is none. */
  async function readFields(input: SourceInput, base: Fields, keepsSecrets = false): Promise<Fields> {
    const before = input.provider === base.provider ? openSettings(secretBox, base) : undefined;
    const keepsSettings = input.settings === undefined && before !== undefined;
    const given = keepsSettings ? before : input.settings;
    const wanted = keepsSecrets ? withSecretsOf(input.provider, before, given) : given;
    const { settings, uid, ...own } = checkSourceFields({ ...input, ...present({ settings: wanted }) });
    const unchanged = keepsSettings || isSame(settings, base, own.provider);
    return {
      ...own,
      // Sealing draws anew each time: what did not change stays as it is stored.
      settings: unchanged ? base.settings : sealSettings(secretBox, settings),
      policy: input.policy ? await checkPolicyRef(store, input.policy, ['body', 'policy']) : DEFAULT_POLICY,
      ...present({ urlTokens: base.urlTokens, uid: input.uid === undefined ? base.uid : uid }),
    };
  }

  function isSame(settings: ProviderSettings, base: Fields, provider: string): boolean {
    return base.provider === provider && JSON.stringify(openSettings(secretBox, base)) === JSON.stringify(settings);
  }

  function countDropped(before: Fields, after: Fields): number {
    if (before.provider !== after.provider) return 0;
    const secretsOf = (fields: Fields) => secretsIn(providerOf(fields.provider), openSettings(secretBox, fields));
    const kept = secretsOf(after);
    return secretsOf(before).filter((secret) => !kept.includes(secret)).length;
  }

  const sources: Sources = {
    async create(input, { remember } = {}) {
      const fields = await readFields(objectArgument(input), NO_FIELDS);
      const now = clock.now();
      const record: Source = { id: ids.next('src'), ...fields, createdAt: now, updatedAt: now };
      const made = viewOf(record);
      const kept = remember && { remember: remember(made) };
      if ((await store.insert({ kind: 'source', record, ...kept })) === 'conflict') {
        throw taken('A source with uid', fields.uid ?? record.id);
      }
      engine.changed(record.id);
      return made;
    },

    get: async (idOrUid) => viewOf((await require(idOrUid)).record),

    async list(request = {}) {
      const page = await store.list({ kind: 'source', ...pageInput(request, { prefix: 'src', order: 'ascending' }) });
      return listing(
        page,
        ({ record }) => record.id,
        ({ record }) => viewOf(record),
      );
    },

    async update(idOrUid, input) {
      objectArgument(input);
      if ((await find(idOrUid)) === undefined) {
        const named = input.uid === undefined && isUid(idOrUid, 'src') ? { ...input, uid: idOrUid } : input;
        return { record: await sources.create(named), created: true };
      }
      const { record } = await revise(store, {
        kind: 'source',
        what: 'source',
        find: () => require(idOrUid),
        change: async ({ record: { id, createdAt, ...base } }) => {
          return { id, ...(await readFields(input, base, true)), createdAt, updatedAt: clock.now() };
        },
      });
      engine.changed(record.id);
      return { record: viewOf(record), created: false };
    },

    async rotateSecret(idOrUid, input) {
      const { secret, dropOld = false } = objectArgument(input);
      const { record } = await revise(store, {
        kind: 'source',
        what: 'source',
        find: () => require(idOrUid),
        change: ({ record: base }) => {
          const settings = withNewSecret(base.provider, openSettings(secretBox, base), secret, dropOld);
          const sealed = sealSettings(secretBox, checkSettings(base.provider, settings));
          return { ...base, settings: sealed, updatedAt: clock.now() };
        },
      });
      engine.changed(record.id);
      return viewOf(record);
    },

    async rotateUrlToken(idOrUid, options = {}) {
      const { record } = await revise(store, {
        kind: 'source',
        what: 'source',
        find: () => require(idOrUid),
        change({ record: base }) {
          const now = clock.now();
          return { ...base, urlTokens: rotateUrlToken(secretBox, base, now, objectArgument(options)), updatedAt: now };
        },
      });
      engine.changed(record.id);
      return viewOf(record);
    },

    async delete(idOrUid) {
      const { record } = await require(idOrUid);
      await store.remove({ kind: 'source', id: record.id, now: clock.now() });
      engine.changed(record.id);
      engine.wake();
    },

    async declare(input) {
      const existing = await find(input.uid);
      if (existing === undefined) {
        // Several nodes may start at once: whoever comes second finds the first one's.
        return sources.create(input).catch(async (error: unknown) => {
          if ((await find(input.uid)) === undefined) throw error;
          return sources.declare(input);
        });
      }
      const { id, createdAt, updatedAt, ...base } = existing.record;
      const fields = await readFields(input, base);
      if (sameFields(fields, base)) return viewOf({ id, createdAt, updatedAt, ...fields });
      const { record } = await sources.update(id, input);
      const droppedSecrets = countDropped(base, fields);
      return { ...record, ...(droppedSecrets > 0 && { droppedSecrets }) };
    },

    ...createSourceHandlers(context, require),
  };
  return sources;
}
