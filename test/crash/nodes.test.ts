/**
 * Four nodes of mixed roles on one PostgreSQL, killed and stopped beyond their lease at random moments while messages are
 * published through them. The endpoints' own log and a journal that the database keeps are the judges.
 * POSTHORN_TEST_KILLS and POSTHORN_TEST_SEED make it longer or repeat it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPostgresStore } from '../../src/store/postgres/index.ts';
import { type ScriptedReceiver, startReceiver } from '../../src/testing/scripted-receiver.ts';
import { type Server, startPostgres, startRedis } from '../../src/testing/servers.ts';
import { SeededRandom } from '../simulation/seeded-random.ts';
import { Fleet, type Role } from './fleet.ts';
import { keepLeaseJournal, type LeaseFindings, readLeaseJournal } from './lease-journal.ts';
import { ADMIN_TOKEN } from './server-process.ts';

const SEED = Number(process.env.POSTHORN_TEST_SEED ?? Date.now() % 1_000_000);
const ROLES: readonly Role[] = ['all', 'api', 'worker', 'all'];
const PUBLISHERS = 4;
const LEASE_MS = 2000;
const STOPPED_MS = 2 * LEASE_MS;
/** A request to a stopped node gets no answer: its publisher goes on with another node. */
const PATIENCE_MS = 1500;
/** Tried again soon, and often enough that no run of bad luck makes a dead letter. */
const POLICY = {
  schedule: { kind: 'explicit', delaysMs: [100, 200, 400, 800, 1600, 1600, 1600, 1600] },
  jitter: { kind: 'none' },
  onExhausted: 'keep',
};

/** The short form ends early where starting nodes takes long; the long form does what it was asked for. */
const SHORT_MS = process.env.POSTHORN_TEST_KILLS === undefined ? 15_000 : Number.POSITIVE_INFINITY;
const DISTURBANCES = Number(process.env.POSTHORN_TEST_KILLS ?? 8);

describe.each([{ dispatch: 'store' }, { dispatch: 'bullmq' }])(
  'nodes on PostgreSQL, dispatched by $dispatch',
  ({ dispatch }) => {
    let postgres: Server;
    let redis: Server | undefined;
    let sql: pg.Client;
    let fleet: Fleet;
    let receiver: ScriptedReceiver;
    const random = new SeededRandom(`nodes ${SEED}`);

    beforeAll(async () => {
      [postgres, redis, receiver] = await Promise.all([
        startPostgres({ fsync: true }),
        dispatch === 'bullmq' ? startRedis() : undefined,
        // Three in ten first arrivals fail, so that retries cross nodes too; some answers take their time.
        startReceiver((response, { path }) => {
          const status = path.startsWith('/fails') && random.draw() < 0.3 ? 500 : 200;
          setTimeout(() => response.writeHead(status).end(), random.between(0, 40));
        }),
      ]);
      await (await openPostgresStore({ url: postgres.url })).close();
      sql = new pg.Client({ connectionString: postgres.url, options: '-c search_path=posthorn' });
      await sql.connect();
      await keepLeaseJournal(sql);
      fleet = new Fleet(postgres.url, {
        POSTHORN_LEASE_MS: String(LEASE_MS),
        POSTHORN_DISPATCH: dispatch,
        POSTHORN_POSTGRES_POOL: '4',
        ...(redis !== undefined && { POSTHORN_REDIS_URL: `redis://127.0.0.1:${redis.port}` }),
      });
    }, 60_000);

    afterAll(async () => {
      await fleet?.end('SIGKILL');
      await sql?.end();
      await receiver?.close();
      await redis?.stop();
      await postgres?.stop();
    });

    it(`ALL-01 ALL-02 BUD-07 ${DISTURBANCES} kills and stops lose nothing accepted, double nothing without cause, and no fenced node writes (seed ${SEED})`, {
      timeout: DISTURBANCES * 60_000 + 180_000,
    }, async () => {
      await Promise.all(ROLES.map((role) => fleet.add(role)));
      const app = await call<{ id: string }>('/app', { name: 'nodes', uid: 'nodes' });
      for (const path of ['works', 'fails']) {
        await call(`/app/${app.id}/endpoint`, { url: `${receiver.url}${path}`, policy: POLICY });
      }
      const publishing = publish(app.id);
      await disturb();
      const { accepted, unanswered } = await publishing.stop();
      await drained();

      const arrivals = countArrivals();
      const deliveries = await readDeliveries();
      const findings = await readLeaseJournal(sql);
      expect(accepted.size).toBeGreaterThan(DISTURBANCES);
      expect([...accepted].filter((id) => !deliveries.has(`${id} works`) || !deliveries.has(`${id} fails`))).toEqual(
        [],
      );
      expect([...deliveries.values()].filter(({ state }) => state !== 'delivered')).toEqual([]);
      expect([...deliveries.keys()].filter((key) => !arrivals.has(key))).toEqual([]);
      // What is stored without an answer to its publisher was under way when a node was killed or stopped.
      expect(deliveries.size / 2 - accepted.size).toBeLessThanOrEqual(unanswered);
      expect(inexplicable(deliveries, arrivals, findings)).toEqual([]);
      expect(findings.violations).toEqual([]);
      expect(findings.fenced).toBeGreaterThanOrEqual(1);
      expect(await misnumbered()).toEqual([]);

      const ends = await fleet.end('SIGTERM');
      expect(ends).toEqual(ends.map(() => ({ code: 0, signal: null })));
    });

    async function call<T>(path: string, body: object): Promise<T> {
      const { urls } = fleet;
      const response = await fetch(`${urls[random.between(0, urls.length - 1)]}/api/v1${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return (await response.json()) as T;
    }

    function publish(appId: string) {
      const accepted = new Set<string>();
      let unanswered = 0;
      let isOver = false;
      const publishers = Array.from({ length: PUBLISHERS }, async () => {
        while (!isOver) {
          try {
            const fields = { eventType: 'nodes.test', payload: { filler: 'x'.repeat(200) } };
            accepted.add((await call<{ id: string }>(`/app/${appId}/msg`, fields)).id);
          } catch {
            unanswered += 1;
          }
          await sleep(10);
        }
      });
      return {
        async stop() {
          isOver = true;
          await Promise.all(publishers);
          return { accepted, unanswered };
        },
      };
    }

    /** A killed node is replaced by a new one; a stopped one goes on after others took over from it; one is added. */
    async function disturb(): Promise<void> {
      const resumed: Promise<void>[] = [];
      const shortEnd = Date.now() + SHORT_MS;
      for (let n = 0; n < DISTURBANCES && Date.now() < shortEnd; n++) {
        await sleep(random.between(100, 800));
        // The first is stopped, the second killed: however short it is, there is something to take over of each kind.
        const running = fleet.nodes.filter(({ isStopped }) => !isStopped);
        const victim = running[random.between(0, running.length - 1)];
        if (victim === undefined) continue;
        // Two at least stay awake: somebody must be there to take over and to publish through.
        if (running.length > 2 && (n === 0 || (n > 1 && random.draw() < 0.5))) {
          fleet.stop(victim);
          resumed.push(sleep(STOPPED_MS).then(() => fleet.resume(victim)));
        } else {
          await fleet.kill(victim);
          await fleet.add(victim.role);
        }
        if (n === 1) await fleet.add('worker');
      }
      await Promise.all(resumed);
    }

    async function drained(): Promise<void> {
      for (let tries = 0; tries < 600; tries++) {
        const { rows } = await sql.query("SELECT 1 FROM deliveries WHERE state IN ('pending', 'leased') LIMIT 1");
        if (rows.length === 0) return;
        await sleep(100);
      }
    }

    function countArrivals(): Map<string, number> {
      const counts = new Map<string, number>();
      for (const { headers, path } of receiver.arrivals) {
        const key = `${String(headers['webhook-id'])} ${path.slice(1)}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
      return counts;
    }

    interface DeliveryRow {
      readonly id: string;
      readonly state: string;
      readonly interrupted: number;
      readonly completed: number;
    }

    async function readDeliveries(): Promise<Map<string, DeliveryRow>> {
      const { rows } = await sql.query<DeliveryRow & { key: string }>(`
      SELECT d.id, d.state, d.message_id || ' ' || right(e.doc::json->>'url', 5) AS key,
        (count(*) FILTER (WHERE a.error = 'interrupted'))::int AS interrupted,
        (count(a.id) FILTER (WHERE a.error IS NULL) + count(d.success_url))::int AS completed
      FROM deliveries d JOIN endpoints e ON e.id = d.destination_id
      LEFT JOIN attempts a ON a.message_id = d.message_id AND a.delivery_id = d.id
      GROUP BY d.id, d.state, d.message_id, d.success_url, e.doc`);
      return new Map(rows.map((row) => [row.key, row]));
    }

    /** Each arrival is an attempt with its answer, or one that was interrupted; and each interruption was a take-over. */
    function inexplicable(
      deliveries: ReadonlyMap<string, DeliveryRow>,
      arrivals: ReadonlyMap<string, number>,
      { takeOvers }: LeaseFindings,
    ): object[] {
      return [...deliveries].flatMap(([key, { id, interrupted, completed }]) => {
        const arrived = arrivals.get(key) ?? 0;
        const taken = takeOvers.get(id) ?? 0;
        const isExplained = completed <= arrived && arrived <= completed + interrupted && interrupted <= taken;
        return isExplained ? [] : [{ key, arrived, completed, interrupted, taken }];
      });
    }

    /** Deliveries whose attempts have a gap in their numbers, one number twice, or more than one success. */
    async function misnumbered(): Promise<object[]> {
      const { rows } = await sql.query(`
      SELECT d.id, d.attempts, array_agg(a.number ORDER BY a.number) AS numbers,
        count(*) FILTER (WHERE a.succeeded) AS successes
      FROM deliveries d LEFT JOIN (
        SELECT delivery_id, number, succeeded FROM attempts
        UNION ALL SELECT id, 1, true FROM deliveries WHERE success_url IS NOT NULL) a ON a.delivery_id = d.id
      GROUP BY d.id, d.attempts
      HAVING array_agg(a.number ORDER BY a.number) <> ARRAY(SELECT generate_series(1, d.attempts))
        OR count(*) FILTER (WHERE a.succeeded) <> 1`);
      return rows;
    }
  },
);
