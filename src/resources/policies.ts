import { invalid, PosthornError } from '../errors.ts';
import { ERROR_KINDS, type ErrorKind, type NamedPolicy, type Policy } from '../model/index.ts';
import {
  closest,
  isPresetName,
  PRESET_NAMES,
  type PresetName,
  parsePolicy,
  presets,
  type Simulation,
  type SimulationOptions,
  simulate,
} from '../policy/index.ts';
import type { Stored } from '../store/index.ts';
import { objectArgument, textArgument } from './argument.ts';
import type { Context, Made, Remember } from './context.ts';
import { doneAlready, taken } from './missing.ts';
import { checkName } from './names.ts';
import { type Listing, listing, type PageRequest, pageInput } from './paging.ts';
import { unknownPolicy } from './policy-refs.ts';
import { findPolicyUser } from './policy-users.ts';
import { revise } from './revise.ts';
import { text } from './text.ts';

export interface PolicyChange {
  readonly description?: string;
  /** May leave anything to the defaults, or to a preset that it `extends`. */
  readonly policy: object;
}

/** A preset or a stored policy. */
export interface PolicyView {
  readonly name: string;
  readonly description: string;
  readonly preset: boolean;
  readonly policy: Policy;
  readonly createdAt?: number;
  readonly updatedAt?: number;
}

export interface SimulateInput extends Omit<SimulationOptions, 'failure'> {
  /** The name of a policy, or one written out. */
  readonly policy: string | object;
  /** A status, or an error kind; `timeout` without it. */
  readonly failure?: number | string;
}

export interface Policies {
  create(
    input: PolicyChange & { readonly name: string },
    options?: { readonly remember?: Remember<PolicyView> | undefined },
  ): Promise<PolicyView>;
  get(name: string): Promise<PolicyView>;
  /** Presets and stored policies together, by name. */
  list(page?: PageRequest): Promise<Listing<PolicyView>>;
  /** Replaces a stored policy, or stores one under this name. It holds from the next decision on. */
  update(name: string, input: PolicyChange): Promise<Made<PolicyView>>;
  /** Refused while an endpoint or application names it. */
  delete(name: string): Promise<void>;
  /** When the attempts would be made if an endpoint were down for a while. */
  simulate(input: SimulateInput): Promise<Simulation>;
}

const LONGEST_OUTAGE_MS = 366 * 24 * 60 * 60 * 1000;

export function createPolicies({ store, engine, clock, ids, preset }: Context): Policies {
  function presetView(name: PresetName): PolicyView {
    const { description, policy } = presets[name];
    return { name, description, preset: true, policy: preset?.(name) ?? policy };
  }

  async function require(name: string): Promise<Stored<'policy'>> {
    const stored = await store.get({ kind: 'policy', idOrName: textArgument(name, 'name') });
    if (stored?.record.name === name) return stored;
    const message = await unknownPolicy(store, name);
    throw new PosthornError('not_found', message.charAt(0).toUpperCase() + message.slice(1));
  }

  function readChange(input: PolicyChange): Pick<NamedPolicy, 'description' | 'policy'> {
    return {
      description: text(input.description ?? '', ['body', 'description'], { min: 0, max: 4096 }),
      policy: parsePolicy(input.policy, ['body', 'policy']),
    };
  }

  const policies: Policies = {
    async create(input, { remember } = {}) {
      const name = checkName(objectArgument(input).name, ['body', 'name']);
      refusePreset(name);
      const now = clock.now();
      const record: NamedPolicy = { id: ids.next('pol'), name, ...readChange(input), createdAt: now, updatedAt: now };
      const result = await store.insert({
        kind: 'policy',
        record,
        ...(remember && { remember: remember(storedView(record)) }),
      });
      if (result === 'duplicate') throw doneAlready();
      if (result === 'conflict') throw taken('Policy', name);
      engine.changed();
      return storedView(record);
    },

    async get(name) {
      return isPresetName(name) ? presetView(name) : storedView((await require(name)).record);
    },

    async list(request = {}) {
      const page = pageInput({ ...request, order: 'ascending' }, { order: 'ascending' });
      const { limit, cursor } = page;
      const stored = await store.list({ kind: 'policy', ...page });
      const backward = cursor?.direction === 'backward';
      const beyond = PRESET_NAMES.filter((name) => !cursor || (backward ? name < cursor.key : name > cursor.key));
      const both = [...beyond.map(presetView), ...stored.items.map(({ record }) => storedView(record))];
      both.sort((a, b) => (a.name < b.name ? -1 : 1));
      const items = backward ? both.slice(-limit) : both.slice(0, limit);
      return listing(
        { items, done: stored.done && both.length <= limit },
        ({ name }) => name,
        (each) => each,
      );
    },

    async update(name, input) {
      refusePreset(name);
      checkName(name, ['path', 'name']);
      objectArgument(input);
      const existing = await store.get({ kind: 'policy', idOrName: name });
      if (existing?.record.name !== name) return { record: await policies.create({ ...input, name }), created: true };
      const change = readChange(input);
      const { record } = await revise(store, {
        kind: 'policy',
        what: 'policy',
        find: () => require(name),
        change: ({ record: current }) => ({ ...current, ...change, updatedAt: clock.now() }),
      });
      engine.changed();
      return { record: storedView(record), created: false };
    },

    async delete(name) {
      refusePreset(name);
      const { record } = await require(name);
      const user = await findPolicyUser(store, name);
      if (user !== undefined) {
        throw new PosthornError('conflict', `Policy "${name}" is in use by ${user}; give that another policy first`);
      }
      await store.remove({ kind: 'policy', id: record.id, now: clock.now() });
      engine.changed();
    },

    async simulate(input) {
      const { policy, failure, ...options } = objectArgument(input);
      const chosen =
        typeof policy === 'string' ? (await policies.get(policy)).policy : parsePolicy(policy, ['body', 'policy']);
      if (!(options.outageMs >= 0 && options.outageMs <= LONGEST_OUTAGE_MS)) {
        throw invalid(['body', 'outageMs'], `must be from 0 to ${LONGEST_OUTAGE_MS} (a year)`);
      }
      return simulate(chosen, { ...options, ...(failure !== undefined && { failure: checkFailure(failure) }) });
    },
  };
  return policies;
}

function refusePreset(name: string): void {
  if (!isPresetName(name)) return;
  throw new PosthornError(
    'conflict',
    `"${name}" is a preset and stays as it is; store a policy of another name that extends it`,
  );
}

function checkFailure(failure: number | string): number | ErrorKind {
  const loc = ['body', 'failure'];
  if (typeof failure === 'number') {
    if (Number.isInteger(failure) && failure >= 100 && failure <= 599) return failure;
    throw invalid(loc, 'must be an HTTP status from 100 to 599, or the name of an error');
  }
  const kind = ERROR_KINDS.find((each) => each === failure);
  if (kind !== undefined) return kind;
  const near = closest(failure, ERROR_KINDS);
  throw invalid(loc, `must be a status or one of ${ERROR_KINDS.join(', ')}${near ? `; did you mean "${near}"?` : ''}`);
}

function storedView({ name, description, policy, createdAt, updatedAt }: NamedPolicy): PolicyView {
  return { name, description, preset: false, policy, createdAt, updatedAt };
}
