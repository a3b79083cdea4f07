import type { Application } from '../model/index.ts';
import type { Stored } from '../store/index.ts';
import { objectArgument, textArgument } from './argument.ts';
import type { Context, Made, Remember } from './context.ts';
import { aliased, over, present } from './fields.ts';
import { doneAlready, missing, taken } from './missing.ts';
import { checkMetadata, checkRate, checkUid } from './names.ts';
import { type Listing, listing, type PageRequest, pageInput } from './paging.ts';
import { checkPolicyRef, type PolicyInput } from './policy-refs.ts';
import { revise } from './revise.ts';
import { text } from './text.ts';

export interface ApplicationInput {
  readonly name: string;
  readonly uid?: string | null;
  readonly rateLimit?: number | null;
  readonly throttleRate?: number | null;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly policy?: PolicyInput | null;
}

export interface Applications {
  /** With `getIfExists`, an application that has the uid already is the answer instead of a conflict. */
  create(
    input: ApplicationInput,
    options?: { readonly getIfExists?: boolean; readonly remember?: Remember<Application> | undefined },
  ): Promise<Made<Application>>;
  get(idOrUid: string): Promise<Application>;
  list(page?: PageRequest): Promise<Listing<Application>>;
  /** Replaces it whole, or creates one when there is none: with a new id, and the uid of the input. */
  update(idOrUid: string, input: ApplicationInput): Promise<Made<Application>>;
  /** Absent keeps, null clears. */
  patch(idOrUid: string, patch: Partial<ApplicationInput>): Promise<Application>;
  /** With its endpoints and tokens; open deliveries are cancelled. */
  delete(idOrUid: string): Promise<void>;
}

/** The fields that a user sets. */
type Fields = Pick<Application, 'name' | 'uid' | 'rateLimit' | 'metadata' | 'policy'>;

export function createApplications(context: Context): Applications {
  const { store, engine, clock, ids } = context;

  async function find(idOrUid: string): Promise<Stored<'application'> | undefined> {
    return store.get({ kind: 'application', idOrName: textArgument(idOrUid, 'application') });
  }

  async function require(idOrUid: string): Promise<Stored<'application'>> {
    const stored = await find(idOrUid);
    if (stored === undefined) throw missing('application', idOrUid);
    return stored;
  }

  const applications: Applications = {
    async create(input, { getIfExists = false, remember } = {}) {
      const { name } = objectArgument(input);
      const fields = await readFields(context, input, { name, metadata: {} });
      if (getIfExists && fields.uid !== undefined) {
        const existing = await find(fields.uid);
        if (existing !== undefined) return { record: existing.record, created: false };
      }
      const now = clock.now();
      const record: Application = { id: ids.next('app'), ...fields, createdAt: now, updatedAt: now };
      const result = await store.insert({
        kind: 'application',
        record,
        ...(remember && { remember: remember(record) }),
      });
      if (result === 'inserted') {
        engine.changed(record.id);
        return { record, created: true };
      }
      if (result === 'duplicate') throw doneAlready();
      const winner = getIfExists && fields.uid !== undefined ? await find(fields.uid) : undefined;
      if (winner !== undefined) return { record: winner.record, created: false };
      throw taken('An application with uid', fields.uid ?? record.id);
    },

    async get(idOrUid) {
      return (await require(idOrUid)).record;
    },

    async list(request = {}) {
      const page = await store.list({
        kind: 'application',
        ...pageInput(request, { prefix: 'app', order: 'ascending' }),
      });
      return listing(
        page,
        ({ record }) => record.id,
        ({ record }) => record,
      );
    },

    async update(idOrUid, input) {
      objectArgument(input);
      if ((await find(idOrUid)) === undefined) return applications.create(input);
      return { record: await change(idOrUid, input, () => ({ name: input.name, metadata: {} })), created: false };
    },

    patch: async (idOrUid, patch) => change(idOrUid, objectArgument(patch, 'patch'), (record) => record),

    async delete(idOrUid) {
      const { record } = await require(idOrUid);
      await store.remove({ kind: 'application', id: record.id, now: clock.now() });
      engine.changed(record.id);
      engine.wake();
    },
  };

  async function change(
    idOrUid: string,
    input: Partial<ApplicationInput>,
    base: (record: Application) => Fields,
  ): Promise<Application> {
    const { record } = await revise(store, {
      kind: 'application',
      what: 'application',
      find: () => require(idOrUid),
      change: async ({ record: current }) => ({
        ...(await readFields(context, input, base(current))),
        id: current.id,
        createdAt: current.createdAt,
        updatedAt: clock.now(),
      }),
    });
    engine.changed(record.id);
    return record;
  }

  return applications;
}

/** The input's fields over those of `base`: an absent one is the base's, a null one is none. */
async function readFields({ store }: Context, input: Partial<ApplicationInput>, base: Fields): Promise<Fields> {
  const rate = aliased(input, 'rateLimit', 'throttleRate');
  return {
    name: text(input.name ?? base.name, ['body', 'name'], { min: 1, max: 256 }),
    metadata: over(input.metadata, base.metadata, (given) => checkMetadata(given, ['body', 'metadata'])) ?? {},
    ...present({
      uid: over(input.uid, base.uid, (given) => checkUid(given, 'app', ['body', 'uid'])),
      rateLimit: over(rate, base.rateLimit, (given) => checkRate(given, ['body', 'rateLimit'])),
      policy: await over(input.policy, base.policy, (given) => checkPolicyRef(store, given, ['body', 'policy'])),
    }),
  };
}
