import type pg from 'pg';
import type { TransactClient, TransactInput, TransactOutput, TransactWork } from '../store.ts';
import { setLocal, TYPES } from './client-config.ts';
import { Db } from './driver.ts';
import { lockLeased, recordIn } from './record.ts';

/** So that a handler which is just within its limit is not cut off by the server. */
const MARGIN_MS = 10_000;

/** Local to the transaction: whatever ends that, however it is written, takes this with it. */
const MARK = 'posthorn.handling';

/** What a handler set for the session would hold for the next one on this connection, which is another's: a role, a schema, a lock. */
const AS_NEW =
  'RESET SESSION AUTHORIZATION; RESET ROLE; RESET ALL; CLOSE ALL; UNLISTEN *; SELECT pg_advisory_unlock_all(); DISCARD TEMP';

/**
 * The lease is looked at last, with the row locked: whoever took the delivery over meanwhile has it, and all that was
 * done here is undone. Nothing is recorded in another transaction than the one that was begun. The connection goes back to
 * the pool only after a commit; a function that runs on after its time limit may still be writing to it.
 */
export function transact(db: Db, input: TransactInput, work: TransactWork): Promise<TransactOutput> {
  return db.borrow(async (client, spoil) => {
    let open = true;
    const lent: TransactClient = {
      query(text, values) {
        if (open) return client.query(text, values === undefined ? undefined : [...values]);
        return Promise.reject(new Error('this transaction is over: its handler has ended or run out of time'));
      },
    };
    const undo = async (result: 'lease_lost' | 'rolled_back'): Promise<TransactOutput> => {
      spoil();
      // After a failed statement the mark cannot be read.
      const marked = isMarked(client).catch(() => true);
      await client.query('ROLLBACK').catch(() => {});
      return { result: (await marked) ? result : 'ended', endpoints: [] };
    };
    // A process that has forgotten its transaction gives its locks back, but never while the handler has time left.
    const mostMs = input.timeoutMs + MARGIN_MS;
    await client.query(
      `BEGIN; SET LOCAL ${MARK} = on; SET LOCAL idle_in_transaction_session_timeout = ${mostMs}; SET LOCAL statement_timeout = ${mostMs}`,
    );
    try {
      const item = await work(lent);
      open = false;
      if (item === undefined) return await undo('rolled_back');
      // A handler may act as a tenant's role, which need not see our tables.
      const asOurselves = `RESET ROLE; ${setLocal(db.schema)}`;
      const [marked] = await Promise.all([isMarked(client), client.query(asOurselves)]);
      if (!marked) return await undo('rolled_back');
      const tx = Db.within(ours(client));
      const { epoch } = input;
      const held = await lockLeased(tx, epoch, [item]);
      if (held.length === 0) return await undo('lease_lost');
      const { endpoints } = await recordIn(db, tx, { epoch, now: input.now(), items: [item] }, [item]);
      // It is recorded, whatever becomes of the connection.
      await client.query(AS_NEW).catch(spoil);
      return { result: 'recorded', endpoints };
    } catch (error) {
      open = false;
      spoil();
      throw error;
    }
  });
}

async function isMarked(client: pg.PoolClient): Promise<boolean> {
  const { rows } = await client.query(`SELECT current_setting('${MARK}', true) = 'on' AS marked`);
  return rows[0]?.marked === true;
}

/** The connection, with answers read as our statements expect them. */
function ours(client: pg.PoolClient): pg.PoolClient {
  const query = (config: string | pg.QueryConfig) =>
    client.query(typeof config === 'string' ? config : { ...config, types: TYPES });
  return { query } as unknown as pg.PoolClient;
}
