import { afterAll } from 'vitest';
import { createTestSchema, type TestSchema } from '../../testing/postgres-schema.ts';
import { exerciseStore, ILLEGAL_TRANSITION } from '../conformance/index.ts';
import { openPostgresStore } from './index.ts';

async function forbidIllegalTransitions(schema: TestSchema): Promise<void> {
  await schema.query(`
    CREATE FUNCTION refuse_transition() RETURNS trigger LANGUAGE plpgsql
      AS $$ BEGIN RAISE EXCEPTION 'illegal transition from % to %', old.state, new.state; END $$;
    CREATE TRIGGER legal_transitions BEFORE UPDATE OF state ON deliveries FOR EACH ROW
      WHEN (${ILLEGAL_TRANSITION}) EXECUTE FUNCTION refuse_transition()`);
}

let shared: Promise<TestSchema> | undefined;
afterAll(async () => (await shared)?.drop());

/** One schema for all tests, emptied before each: making one costs more than most tests do. */
function useSchema(): Promise<TestSchema> {
  shared ??= (async () => {
    const schema = await createTestSchema();
    await (await openPostgresStore({ url: schema.url })).close();
    await forbidIllegalTransitions(schema);
    return schema;
  })();
  return shared;
}

exerciseStore('PostgreSQL that refuses illegal transitions', {
  histories: 40,
  capabilities: { durable: true, transactional: true },
  async open() {
    const schema = await useSchema();
    await schema.empty();
    const open = () => openPostgresStore({ url: schema.url, poolSize: 4 });
    const store = await open();
    let current = store;
    return {
      store,
      async reopen() {
        await current.close();
        current = await open();
        return current;
      },
      async lanes() {
        const rows = await schema.query<{ id: string }>(
          'SELECT destination_id AS id FROM lanes ORDER BY destination_id',
        );
        return rows.map(({ id }) => id);
      },
      close: () => current.close(),
    };
  },
});
