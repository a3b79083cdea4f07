import { describe, expect, it } from 'vitest';
import type { TransactClient } from '../store.ts';
import type { StoreCapabilities, Use } from './harness.ts';
import { DELIVERED, LEASE_MS, only, T0 } from './scene.ts';

/** For stores whose database callers share; the others have no such method, so that nobody counts on it. */
export function exerciseTransact(use: Use, { transactional }: StoreCapabilities): void {
  describe('transact', () => {
    if (!transactional) {
      it('is not there where nobody else can write to the database', () => {
        expect(use().store.transact).toBeUndefined();
      });
      return;
    }

    /** A delivery that is leased, and a way to transact on it. */
    async function leased() {
      const scene = use();
      const [id = ''] = await scene.publish({ to: [await scene.endpoint()] });
      const item = scene.recordItem(await scene.claimOne(id), DELIVERED, { startedAt: T0 });
      const { transact } = scene.store;
      if (transact === undefined) throw new Error('this store has no transact');
      return { scene, id, item, input: { epoch: scene.epoch, now: () => T0 + 50, timeoutMs: 1000 }, transact };
    }

    it('PAY-06 records the delivery with the attempt, as record does', async () => {
      const { scene, id, item, input, transact } = await leased();
      expect(await transact(input, async () => item)).toMatchObject({ result: 'recorded' });
      expect(await scene.delivery(id)).toMatchObject({ state: 'delivered', attempts: 1, updatedAt: T0 + 50 });
      expect(await scene.attempts(id)).toEqual([item.attempt]);
    });

    it('lends a client that works, and takes it back at the end', async () => {
      const { item, input, transact } = await leased();
      let lent: Parameters<Parameters<typeof transact>[1]>[0] | undefined;
      await transact(input, async (client) => {
        lent = client;
        expect((await client.query('SELECT $1::int AS n', [7])).rows).toEqual([{ n: 7 }]);
        return item;
      });
      await expect(lent?.query('SELECT 1')).rejects.toThrow(/over/);
    });

    it('leaves nothing behind on its connection for the next, which is of another event', async () => {
      const first = await leased();
      await first.transact(first.input, async (client) => {
        await client.query("SET search_path = pg_catalog; SET ROLE pg_monitor; SET timezone = 'Asia/Tokyo'");
        await client.query('CREATE TEMP TABLE left_over (n int); LISTEN left_over; SELECT pg_advisory_lock(7)');
        return first.item;
      });
      const second = await leased();
      await second.transact(second.input, async (client) => {
        const { rows } =
          await client.query(`SELECT current_setting('search_path') AS path, current_user = session_user AS mine,
          current_setting('timezone') AS zone, to_regclass('pg_temp.left_over') AS temp,
          (SELECT count(*)::int FROM pg_listening_channels()) AS channels,
          (SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND objid = 7) AS locks`);
        expect(rows).toMatchObject([{ path: '"$user", public', mine: true, temp: null, channels: 0, locks: 0 }]);
        expect((rows[0] as { zone: string }).zone).not.toBe('Asia/Tokyo');
        return second.item;
      });
    });

    it('without an item changes nothing: the lease holds, and the delivery can be recorded afterwards', async () => {
      const { scene, id, item, input, transact } = await leased();
      expect(await transact(input, async () => undefined)).toMatchObject({ result: 'rolled_back' });
      expect(await scene.delivery(id)).toMatchObject({ state: 'leased', attempts: 0 });
      const { results } = await scene.store.record({ epoch: scene.epoch, now: T0, items: [item] });
      expect(results).toEqual(['recorded']);
    });

    it('whose work throws changes nothing, and says what it threw', async () => {
      const { scene, id, input, transact } = await leased();
      await expect(transact(input, () => Promise.reject(new Error('of the work')))).rejects.toThrow('of the work');
      expect(await scene.delivery(id)).toMatchObject({ state: 'leased', attempts: 0 });
    });

    const ENDINGS = [
      ['ROLLBACK'],
      ['COMMIT'],
      ['COMMIT AND CHAIN'],
      ['ROLLBACK AND CHAIN'],
      ['/* BEGIN */ SELECT 1; COMMIT -- ;\n; BEGIN'],
      ['BEGIN', 'COMMIT', 'BEGIN'],
      ['SAVEPOINT a', 'ROLLBACK', 'BEGIN', 'SAVEPOINT a'],
      // A setting tells whose transaction it is: without it nobody knows.
      ['RESET ALL'],
    ];

    it.each(ENDINGS)(
      'PAY-06 records nothing in a transaction that its work ended, and says so: %s',
      async (...texts) => {
        for (const answers of [true, false]) {
          const { scene, id, item, input, transact } = await leased();
          const work = async (client: TransactClient) => {
            for (const text of texts) await client.query(text);
            return answers ? item : undefined;
          };
          expect(await transact(input, work)).toMatchObject({ result: 'ended' });
          expect(await scene.delivery(id)).toMatchObject({ state: 'leased', attempts: 0 });
          const { results } = await scene.store.record({ epoch: scene.epoch, now: T0, items: [item] });
          expect(results).toEqual(['recorded']);
        }
      },
    );

    it('PAY-06 says so of work that ended it, and then failed with a statement', async () => {
      const { input, transact } = await leased();
      const work = async (client: TransactClient) => {
        await client.query('COMMIT');
        await client.query('SELECT 1/0').catch(() => {});
        return undefined;
      };
      expect(await transact(input, work)).toMatchObject({ result: 'ended' });
    });

    it.each([
      ['SAVEPOINT a', 'SELECT 1', 'ROLLBACK TO SAVEPOINT a', 'RELEASE SAVEPOINT a'],
      ['SET TRANSACTION ISOLATION LEVEL SERIALIZABLE', 'SELECT 1'],
      ['BEGIN', 'SET LOCAL statement_timeout = 0'],
    ])('leaves to its work what ends no transaction: %s', async (...texts) => {
      const { scene, id, item, input, transact } = await leased();
      const work = async (client: TransactClient) => {
        for (const text of texts) await client.query(text);
        return item;
      };
      expect(await transact(input, work)).toMatchObject({ result: 'recorded' });
      expect(await scene.state(id)).toBe('delivered');
    });

    it('goes on after a savepoint when a statement failed behind it', async () => {
      const { item, input, transact } = await leased();
      const work = async (client: TransactClient) => {
        await client.query('SAVEPOINT a');
        await expect(client.query('SELECT 1/0')).rejects.toThrow();
        await client.query('ROLLBACK TO a');
        return item;
      };
      expect(await transact(input, work)).toMatchObject({ result: 'recorded' });
    });

    it('BUD-07 a lost lease changes nothing, and says so', async () => {
      const { scene, id, item, input, transact } = await leased();
      const heir = await scene.join(T0 + LEASE_MS);
      only(await scene.takeOver(heir, T0 + LEASE_MS), id);
      const before = await scene.delivery(id);
      expect(await transact(input, async () => item)).toMatchObject({ result: 'lease_lost' });
      expect(await scene.delivery(id)).toEqual(before);
      expect(await scene.attempts(id)).toEqual([]);
    });

    it('ALL-02 a second one for the same attempt has lost its lease to the first', async () => {
      const { scene, id, item, input, transact } = await leased();
      await transact(input, async () => item);
      expect(await transact(input, async () => item)).toMatchObject({ result: 'lease_lost' });
      expect(await scene.attempts(id)).toHaveLength(1);
    });
  });
}
