import { hash } from 'node:crypto';
import { invalid } from '../errors.ts';
import { randomSecret } from '../ids.ts';
import type { Token, TokenScope } from '../model/index.ts';
import { objectArgument, textArgument } from './argument.ts';
import type { Context } from './context.ts';
import { missing } from './missing.ts';
import { type Listing, listing, type PageRequest, pageInput } from './paging.ts';
import { text } from './text.ts';

export interface TokenInput {
  readonly name: string;
  readonly scope: TokenScope;
  /** The application's id or uid: required for scope `application`, possible for `read-only`. */
  readonly applicationId?: string | null;
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number | null;
}

/** A token without what would let someone check guesses against it. */
export type TokenView = Omit<Token, 'hash'>;

export interface Tokens {
  /** The plain token is in this answer and nowhere else: only its SHA-256 is stored. */
  create(input: TokenInput): Promise<{ readonly token: string; readonly record: TokenView }>;
  get(id: string): Promise<TokenView>;
  list(page?: PageRequest): Promise<Listing<TokenView>>;
  delete(id: string): Promise<void>;
  /** Whose token this is, or undefined if it is nobody's or has expired. */
  authenticate(plain: string): Promise<Token | undefined>;
}

/** How long a token deleted on another node may still be let in here. */
const CACHED_MS = 5000;
const MOST_CACHED = 10_000;
const TOKEN_BYTES = 30;
const CONFIGURED_ID = `tok_${'0'.repeat(27)}`;

export function createTokens({ store, clock, ids, adminToken }: Context): Tokens {
  const cache = new Map<string, { readonly token: Token; readonly until: number }>();
  const configured = adminToken === undefined ? undefined : configuredToken(adminToken, clock.now());

  async function lookUp(plain: string): Promise<Token | undefined> {
    // Looked up by hash: how long that takes says nothing about how much of a guess was right.
    const hash = sha256(textArgument(plain, 'token'));
    if (hash === configured?.hash) return configured;
    const now = clock.now();
    const cached = cache.get(hash);
    if (cached !== undefined && cached.until > now) return cached.token;
    const stored = await store.get({ kind: 'token', idOrName: hash });
    if (stored?.record.hash !== hash) {
      cache.delete(hash);
      return undefined;
    }
    if (cache.size >= MOST_CACHED) cache.clear();
    cache.set(hash, { token: stored.record, until: now + CACHED_MS });
    return stored.record;
  }

  async function applicationOf({ scope, applicationId }: TokenInput): Promise<string | undefined> {
    const loc = ['body', 'applicationId'];
    if (applicationId === undefined || applicationId === null) {
      if (scope === 'application') throw invalid(loc, 'is required for scope "application"', 'value_error.missing');
      return undefined;
    }
    if (scope === 'admin') throw invalid(loc, 'an admin token reaches everything; leave it out');
    const application = await store.get({
      kind: 'application',
      idOrName: textArgument(applicationId, 'applicationId'),
    });
    if (application === undefined) throw invalid(loc, 'there is no such application');
    return application.record.id;
  }

  return {
    async create(input) {
      const name = text(objectArgument(input).name, ['body', 'name'], { min: 1, max: 256 });
      const applicationId = await applicationOf(input);
      const now = clock.now();
      const expiresAt = input.expiresAt ?? undefined;
      if (expiresAt !== undefined && !(expiresAt > now)) throw invalid(['body', 'expiresAt'], 'must be in the future');
      const plain = makeToken();
      const record: Token = {
        id: ids.next('tok'),
        name,
        hash: sha256(plain),
        scope: input.scope,
        ...(applicationId !== undefined && { applicationId }),
        createdAt: now,
        updatedAt: now,
        ...(expiresAt !== undefined && { expiresAt }),
      };
      await store.insert({ kind: 'token', record });
      return { token: plain, record: view(record) };
    },

    async get(id) {
      const stored = await store.get({ kind: 'token', idOrName: textArgument(id, 'id') });
      // By id only: a hash would be found too, and tell that a guess was right.
      if (stored?.record.id !== id) throw missing('token', id);
      return view(stored.record);
    },

    async list(request = {}) {
      const page = await store.list({ kind: 'token', ...pageInput(request, { prefix: 'tok', order: 'ascending' }) });
      return listing(
        page,
        ({ record }) => record.id,
        ({ record }) => view(record),
      );
    },

    async delete(id) {
      const removed = await store.remove({ kind: 'token', id: textArgument(id, 'id'), now: clock.now() });
      if (!removed) throw missing('token', id);
      for (const [hash, { token }] of cache) if (token.id === id) cache.delete(hash);
    },

    async authenticate(plain) {
      const token = await lookUp(plain);
      return token?.expiresAt !== undefined && token.expiresAt <= clock.now() ? undefined : token;
    },
  };
}

export function makeToken(): string {
  return `ph_${randomSecret(TOKEN_BYTES).toString('base64url')}`;
}

/**
 * Never stored: a node answers for its own configuration alone, so that nodes with another token, or with none, take nothing
 * from this one, and a token that has left the configuration lets nobody in.
 */
function configuredToken(plain: string, now: number): Token {
  const name = 'from the configuration';
  return { id: CONFIGURED_ID, name, hash: sha256(plain), scope: 'admin', createdAt: now, updatedAt: now };
}

function view({ hash: _, ...rest }: Token): TokenView {
  return rest;
}

function sha256(plain: string): string {
  return hash('sha256', plain, 'hex');
}
