import type { TransactClient, TransactInput, TransactOutput, TransactWork } from '../store.ts';
import { Db } from './driver.ts';
import { lockLeased, recordIn } from './record.ts';

/**
 * The lease is looked at last, with the row locked: whoever took the delivery over meanwhile has it, and all that was
 * done here is undone. The connection goes back to the pool only after a commit; a function that runs on after its time
 * limit may still be writing to it.
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
      await client.query('ROLLBACK').catch(() => {});
      return { result, endpoints: [] };
    };
    // The user's tables are not in our schema: theirs is the path that their own connections have.
    await client.query('BEGIN; SET LOCAL search_path TO "$user", public');
    try {
      const item = await work(lent);
      open = false;
      if (item === undefined) return await undo('rolled_back');
      await client.query(`SET LOCAL search_path TO ${db.schema}`);
      const tx = Db.within(client);
      const { epoch } = input;
      const held = await lockLeased(tx, epoch, [item]);
      if (held.length === 0) return await undo('lease_lost');
      const { endpoints } = await recordIn(db, tx, { epoch, now: input.now(), items: [item] }, [item]);
      return { result: 'recorded', endpoints };
    } catch (error) {
      open = false;
      spoil();
      throw error;
    }
  });
}
