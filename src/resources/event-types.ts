import { PosthornError } from '../errors.ts';
import type { EventType } from '../model/index.ts';
import type { Page, PageInput, Stored } from '../store/index.ts';
import { objectArgument, textArgument } from './argument.ts';
import type { Context, Made, Remember } from './context.ts';
import { over, present } from './fields.ts';
import { createSchemaCheck } from './json-schemas.ts';
import { doneAlready, missing, taken } from './missing.ts';
import { checkName } from './names.ts';
import { type Listing, listing, type PageRequest, pageInput } from './paging.ts';
import { revise } from './revise.ts';
import { text } from './text.ts';

export interface EventTypeInput {
  readonly name: string;
  readonly description?: string;
  readonly archived?: boolean;
  readonly deprecated?: boolean;
  readonly groupName?: string | null;
  readonly featureFlag?: string | null;
  /** JSON Schemas of the payload by version. They describe it; messages are not checked against them. */
  readonly schemas?: Readonly<Record<string, unknown>> | null;
}
export type EventTypeChange = Omit<EventTypeInput, 'name'>;

export interface EventTypes {
  /** One that was archived comes back with the new fields; one that exists is a conflict. */
  create(input: EventTypeInput, options?: { readonly remember?: Remember<EventType> | undefined }): Promise<EventType>;
  get(name: string): Promise<EventType>;
  /** By name, ascending. */
  list(page?: PageRequest & { readonly includeArchived?: boolean }): Promise<Listing<EventType>>;
  /** Replaces it whole, or creates it under this name. */
  update(name: string, input: EventTypeChange): Promise<Made<EventType>>;
  patch(name: string, patch: EventTypeChange): Promise<EventType>;
  /** Archives it; `expunge` removes it. Endpoints that filter by it keep doing so. */
  delete(name: string, options?: { readonly expunge?: boolean }): Promise<void>;
}

type Fields = Omit<EventType, 'id' | 'name' | 'createdAt' | 'updatedAt'>;
const BLANK: Fields = { description: '', archived: false, deprecated: false };

export function createEventTypes({ store, clock, ids }: Context): EventTypes {
  const checkSchemas = createSchemaCheck();

  async function find(name: string): Promise<Stored<'eventType'> | undefined> {
    const stored = await store.get({ kind: 'eventType', idOrName: textArgument(name, 'name') });
    return stored?.record.name === name ? stored : undefined;
  }

  async function require(name: string): Promise<Stored<'eventType'>> {
    const stored = await find(name);
    if (stored === undefined) throw missing('event type', name);
    return stored;
  }

  function readFields(input: EventTypeChange, base: Fields): Fields {
    return {
      description: text(input.description ?? base.description, ['body', 'description'], { min: 0, max: 4096 }),
      archived: input.archived ?? base.archived,
      deprecated: input.deprecated ?? base.deprecated,
      ...present({
        groupName: over(input.groupName, base.groupName, (given) => checkName(given, ['body', 'groupName'])),
        featureFlag: over(input.featureFlag, base.featureFlag, (given) => checkName(given, ['body', 'featureFlag'])),
        schemas: over(input.schemas, base.schemas, (given) => checkSchemas(given, ['body', 'schemas'])),
      }),
    };
  }

  async function change(name: string, to: (current: EventType) => Fields): Promise<EventType> {
    const { record } = await revise(store, {
      kind: 'eventType',
      what: 'event type',
      find: () => require(name),
      change: ({ record: current }) => {
        const { id, createdAt } = current;
        return { id, name: current.name, ...to(current), createdAt, updatedAt: clock.now() };
      },
    });
    return record;
  }

  /** Pages over the archived ones until there is a page's worth of the others. */
  async function listLive(page: PageInput): Promise<Page<Stored<'eventType'>>> {
    const direction = page.cursor?.direction ?? 'forward';
    let found: Stored<'eventType'>[] = [];
    let cursor = page.cursor;
    for (;;) {
      const { items, done } = await store.list({ kind: 'eventType', ...page, ...(cursor && { cursor }) });
      const live = items.filter(({ record }) => !record.archived);
      found = direction === 'forward' ? [...found, ...live] : [...live, ...found];
      if (found.length > page.limit || done) {
        const cut = direction === 'forward' ? found.slice(0, page.limit) : found.slice(-page.limit);
        return { items: cut, done: found.length <= page.limit };
      }
      const edge = direction === 'forward' ? items.at(-1) : items[0];
      cursor = edge && { key: edge.record.name, direction };
    }
  }

  const eventTypes: EventTypes = {
    async create(input, { remember } = {}) {
      const name = checkName(objectArgument(input).name, ['body', 'name']);
      const fields = readFields(input, BLANK);
      const existing = await find(name);
      if (existing?.record.archived) {
        return change(name, (current) => {
          if (!current.archived) throw taken('Event type', name);
          return fields;
        });
      }
      const now = clock.now();
      const record: EventType = { id: ids.next('evtype'), name, ...fields, createdAt: now, updatedAt: now };
      const result =
        existing === undefined
          ? await store.insert({ kind: 'eventType', record, ...(remember && { remember: remember(record) }) })
          : 'conflict';
      if (result === 'duplicate') throw doneAlready();
      if (result === 'conflict') throw taken('Event type', name);
      return record;
    },

    get: async (name) => (await require(name)).record,

    async list({ includeArchived = false, ...request } = {}) {
      const page = pageInput({ ...request, order: 'ascending' }, { order: 'ascending' });
      const found = includeArchived ? await store.list({ kind: 'eventType', ...page }) : await listLive(page);
      return listing(
        found,
        ({ record }) => record.name,
        ({ record }) => record,
      );
    },

    async update(name, input) {
      checkName(name, ['path', 'name']);
      objectArgument(input);
      const existing = await find(name);
      if (existing === undefined) return { record: await eventTypes.create({ ...input, name }), created: true };
      const fields = readFields(input, BLANK);
      return { record: await change(name, () => fields), created: false };
    },

    patch: async (name, patch) => change(name, (current) => readFields(objectArgument(patch, 'patch'), current)),

    async delete(name, { expunge = false } = {}) {
      if (!expunge) {
        await change(name, (current) => ({ ...readFields({}, current), archived: true }));
        return;
      }
      const { record } = await require(name);
      const removed = await store.remove({ kind: 'eventType', id: record.id, now: clock.now() });
      if (!removed) throw new PosthornError('not_found', `There is no event type ${JSON.stringify(name)}`);
    },
  };
  return eventTypes;
}
