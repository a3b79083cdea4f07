import pg from 'pg';
import { FEW, judgeClaims, measureClaims, measureWork, showClaims } from '../backlogs.mjs';
import { count, megabytes, milliseconds, table } from '../report.mjs';
import { startPostgres } from '../servers.mjs';

const PENDING = 5_000_000;
const POSTHORN = {
  name: 'posthorn-postgres',
  title: 'Posthorn on PostgreSQL',
  file: 'posthorn-library',
  postgres: true,
};

/** The same on PostgreSQL, two databases of one server: what a claim costs, and how soon an accepted event arrives beside it. */
export async function pgBacklog(bench) {
  const { processes, options, say } = bench;
  if (!bench.hasPostgres) throw new Error('there is no PostgreSQL on this machine');
  const pending = options.pending ?? PENDING;
  const folder = processes.newFolder('pg-backlog');
  const server = await startPostgres(processes);
  try {
    const urls = { few: await createDatabase(server.url, 'few'), many: await createDatabase(server.url, 'many') };
    const where = { few: { postgresUrl: urls.few }, many: { postgresUrl: urls.many } };
    const claims = await measureClaims(bench, where, pending);
    say(`working on ${count(FEW)}, then on ${count(pending)} pending for ${options.seconds} s each …`);
    const working = {};
    for (const size of ['few', 'many']) working[size] = await measureWork(bench, POSTHORN, folder, where[size]);
    const results = { pending, ...claims, working };
    show(bench, results);
    return { results, targets: [judgeClaims(results, ', on PostgreSQL'), judgeArrival(results)] };
  } finally {
    await server.stop();
    processes.removeFolder(folder);
  }
}

async function createDatabase(url, name) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  return Object.assign(new URL(url), { pathname: `/${name}` }).href;
}

function show(bench, results) {
  const { pending, working } = results;
  showClaims(bench, results);
  const row = (size, { p50Ms, p99Ms, held, peakRssBytes }) => [
    count(size),
    milliseconds(p50Ms),
    milliseconds(p99Ms),
    String(held),
    megabytes(peakRssBytes),
  ];
  const head = ['pending', 'accept to arrival p50', 'p99', 'in flight', 'peak RSS of the process'];
  bench.print(table(head, [row(FEW, working.few), row(pending, working.many)]));
}

function judgeArrival({ pending, working: { few, many } }) {
  const factor = many.p99Ms / few.p99Ms;
  return {
    label: `accept to arrival, p99, at ${count(pending)} ≤ 2 × at ${count(FEW)}, on PostgreSQL`,
    met: factor <= 2,
    measured: `${factor.toFixed(2)} (${milliseconds(many.p99Ms)} and ${milliseconds(few.p99Ms)})`,
  };
}
