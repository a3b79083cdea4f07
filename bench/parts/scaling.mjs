import { setTimeout as sleep } from 'node:timers/promises';
import { EVENT_TYPE, payload, SECRET } from '../event.mjs';
import { count, table } from '../report.mjs';
import { startPostgres } from '../servers.mjs';
import { median } from '../statistics.mjs';

const WORKERS = [1, 2, 4];
const APPLICATIONS = 64;
const LOOK_EVERY_MS = 10;
const LONGEST_MS = 300_000;

/** How fast 1, 2 and 4 worker processes empty the same backlog, and what each of them and PostgreSQL use for it. */
export async function scaling(bench) {
  const { options, say, print } = bench;
  if (!bench.hasPostgres) return { results: { skipped: 'no PostgreSQL' }, targets: [] };
  const rounds = [];
  for (let round = 1; round <= options.rounds; round++) {
    for (const workers of WORKERS) {
      const result = await drain(bench, workers);
      rounds.push({ workers, ...result });
      say(`round ${round}/${options.rounds}  ${workers} worker(s)  ${count(result.perSecond)}/s`);
    }
  }
  const rows = WORKERS.map((workers) => {
    const of = (key) => median(rounds.filter((each) => each.workers === workers).map((each) => each[key]));
    return {
      workers,
      perSecond: of('perSecond'),
      nodeCpu: of('nodeCpuPerThousandS'),
      postgresCpu: of('postgresCpuPerThousandS'),
    };
  });
  print(
    table(
      ['worker processes', 'deliveries/s', 'CPU s per 1,000: workers', 'PostgreSQL'],
      rows.map(({ workers, perSecond, nodeCpu, postgresCpu }) => [
        String(workers),
        count(perSecond),
        nodeCpu.toFixed(3),
        postgresCpu.toFixed(3),
      ]),
    ),
  );
  return { results: { rounds, rows }, targets: [] };
}

async function drain({ processes, sink, options }, count) {
  const started = [];
  const open = async (role) => {
    const node = processes.fork('./worker-node.mjs', role);
    started.push(node.stop);
    await node.call('open', { dist: options.dist, postgresUrl: postgres.url, role });
    return node;
  };
  const postgres = await startPostgres(processes);
  started.push(() => postgres.stop());
  try {
    const publisher = await open('api');
    const applications = await publisher.call('prepare', {
      applications: APPLICATIONS,
      url: sink.urls.url,
      secret: SECRET,
    });
    await sink.call('reset', { mode: 'count' });
    await publisher.call('publish', { applications, events: options.events, eventType: EVENT_TYPE, payload });
    const before = await postgres.usage();
    const workers = await Promise.all(Array.from({ length: count }, () => open('worker')));
    // The middle nine tenths: neither the start of the processes nor the last few count.
    const from = await arrived(sink, options.events * 0.05);
    const to = await arrived(sink, options.events * 0.95);
    await arrived(sink, options.events);
    const after = await postgres.usage();
    const usages = await Promise.all(workers.map((worker) => worker.call('usage')));
    const nodeCpuS = usages.reduce((sum, { cpuS }) => sum + cpuS, 0);
    return {
      perSecond: ((to.arrived - from.arrived) * 1000) / (to.at - from.at),
      nodeCpuPerThousandS: (nodeCpuS * 1000) / options.events,
      postgresCpuPerThousandS: ((after.cpuS - before.cpuS) * 1000) / options.events,
    };
  } finally {
    for (const stop of started.reverse()) await stop();
  }
}

async function arrived(sink, wanted) {
  const startedAt = performance.now();
  for (;;) {
    const { arrived: so } = await sink.call('count');
    const at = performance.now();
    if (so >= wanted) return { arrived: so, at };
    if (at - startedAt > LONGEST_MS) throw new Error(`only ${so} of ${wanted} arrived`);
    await sleep(LOOK_EVERY_MS);
  }
}
