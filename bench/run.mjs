// `npm run bench`: what Posthorn does in a second, beside the limit and beside what people write by hand.
import { existsSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readOptions } from './options.mjs';
import { backlog } from './parts/backlog.mjs';
import { latency } from './parts/latency.mjs';
import { neighbour } from './parts/neighbour.mjs';
import { pgBacklog } from './parts/pg-backlog.mjs';
import { postgres } from './parts/postgres.mjs';
import { receive } from './parts/receive.mjs';
import { scaling } from './parts/scaling.mjs';
import { throughput } from './parts/throughput.mjs';
import { Processes } from './processes.mjs';
import { verdicts } from './report.mjs';
import { hasPostgres, hasRedis } from './servers.mjs';

const PARTS = { throughput, receive, latency, neighbour, backlog, postgres, 'pg-backlog': pgBacklog, scaling };
const RESULTS = fileURLToPath(new URL('./results/', import.meta.url));

function say(line) {
  process.stdout.write(`bench: ${line}\n`);
}

function print(text) {
  process.stdout.write(`\n${text}\n\n`);
}

async function main() {
  const options = readOptions(process.argv.slice(2));
  if (options === undefined) return 0;
  if (!existsSync(resolve(options.dist, 'index.js')))
    throw new Error(`there is no build in ${options.dist}: npm run build.`);

  const processes = new Processes(RESULTS);
  const there = { hasRedis: hasRedis(), hasPostgres: hasPostgres() };
  const bench = { options, processes, say, print, ...there, stopped: false };
  const stop = async (why, exitCode) => {
    if (bench.stopped) return;
    bench.stopped = true;
    say(`${why}: ending all processes …`);
    await processes.stopAll();
    process.exit(exitCode);
  };
  process.on('SIGINT', () => void stop('SIGINT', 130));
  process.on('SIGTERM', () => void stop('SIGTERM', 143));
  process.on('SIGHUP', () => void stop('SIGHUP', 129));
  process.on('uncaughtException', (error) => void stop(error.stack, 1));
  try {
    return await measure(bench);
  } catch (error) {
    // A signal ends the processes under the hands of whoever measures: its error says nothing then.
    if (bench.stopped) await new Promise(() => {});
    throw error;
  } finally {
    await processes.stopAll();
  }
}

async function measure(bench) {
  const { options, processes } = bench;
  if (!bench.hasRedis) say('there is no redis-server: BullMQ is left out.');
  if (!bench.hasPostgres) say('there is no PostgreSQL: what needs it is left out.');
  const sink = processes.fork('./sink.mjs', 'sink');
  bench.sink = { urls: await sink.call('listen'), call: (method, args) => sink.call(method, args) };

  const report = { startedAt: new Date().toISOString(), machine: machine(), options, parts: {}, targets: [] };
  const failures = [];
  for (const part of options.parts) {
    say(`${part} …`);
    try {
      const { results, targets } = await PARTS[part](bench);
      report.parts[part] = results;
      report.targets.push(...targets);
    } catch (error) {
      if (bench.stopped) throw error;
      failures.push(part);
      say(`${part} failed: ${error.message}`);
    }
  }
  report.loadAverageAfter = loadavg();
  print(verdicts(report.targets));
  const file = join(RESULTS, 'latest.json');
  writeFileSync(file, `${JSON.stringify(report, undefined, 2)}\n`);
  say(`all numbers: ${file}`);
  const leftOut = Object.values(report.parts).flatMap(({ failed }) => Object.keys(failed ?? {}));
  return failures.length > 0 || leftOut.length > 0 ? 1 : 0;
}

function machine() {
  const processors = cpus();
  return { node: process.version, processor: processors[0]?.model, cores: processors.length, loadAverage: loadavg() };
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`bench: ${error.message}\n`);
  process.exitCode = 1;
}
