// One measurement: a fresh contestant in a process of its own, with a fresh store, against the one sink.
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from './monotonic.mjs';
import { startPostgres, startRedis } from './servers.mjs';

/**
 * Everybody runs for as long before it is measured: what is asked is how many a second for days, and the first seconds of a
 * process are the compiler's. Every event is checked by the sink.
 */
const WARM_UP_MS = 8000;
const WARM_UP_EVENTS = 2000;
/** Vacuum would begin a minute after the start, and be in the way of whoever has its turn then. */
const NO_VACUUM = { autovacuum: 'off' };
const ARRIVAL_MS = 30_000;
const LOOK_EVERY_MS = 20;
const PACE_TIMEOUT_MS = 900_000;

/**
 * @typedef {object} Contestant
 * @property {string} name
 * @property {string} title
 * @property {string} [file] In contestants/, when not of its name.
 * @property {'everysec' | 'always'} [appendfsync] It needs a Redis that syncs like this.
 * @property {boolean} [postgres] It needs a PostgreSQL.
 * @property {'bullmq'} [dispatch] How Posthorn's deliveries reach its workers, when not by the store.
 * @property {boolean} [keeps] What it receives is kept, and nothing is for it: no handler is called.
 * @property {boolean} [throughApi] load.mjs publishes, not its own process.
 * @property {boolean} [receives] load.mjs is a provider that sends to it: what is received ends there, not at the sink.
 */

/** Opens the contestant on an empty store, warms it up, lets `measure` work with it, and takes everything down again. */
export async function withContestant(bench, contestant, measure) {
  return measureAndClose(await openContestant(bench, contestant), measure);
}

/** The same on the store that is in `folder` already, or in the database at `given.postgresUrl`. */
export async function withContestantIn(folder, bench, contestant, measure, given = {}) {
  return measureAndClose(await openContestantIn(folder, bench, contestant, given), measure);
}

async function measureAndClose({ run, close }, measure) {
  try {
    return await measure(run);
  } finally {
    await close();
  }
}

/** On an empty store and warm, until `close`. */
export async function openContestant(bench, contestant) {
  const folder = bench.processes.newFolder(contestant.name);
  const remove = () => bench.processes.removeFolder(folder);
  try {
    const { run, close } = await openContestantIn(folder, bench, contestant);
    return { run, close: () => close().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}

async function openContestantIn(folder, { processes, sink, options }, contestant, given = {}) {
  const started = [];
  const close = async () => {
    for (const stop of started.splice(0).reverse()) await stop();
  };
  try {
    const redis = contestant.appendfsync && (await startRedis(processes, contestant.appendfsync));
    if (redis) started.push(() => redis.stop());
    const postgres = contestant.postgres && !given.postgresUrl && (await startPostgres(processes, NO_VACUUM));
    if (postgres) started.push(() => postgres.stop());
    const own = processes.fork('./contestant.mjs', contestant.title);
    started.push(own.stop);
    const address = await own.call('open', {
      file: contestant.file ?? contestant.name,
      dispatch: contestant.dispatch,
      keeps: contestant.keeps,
      folder,
      dist: options.dist,
      redisUrl: redis?.url,
      postgresUrl: given.postgresUrl ?? postgres?.url,
      ...sink.urls,
    });
    const { throughApi, receives } = contestant;
    const publisher = throughApi || receives ? await startLoad(processes, address, started) : own;
    const servers = [redis, postgres].filter(Boolean);
    const run = new Run(own, publisher, servers, receives ? undefined : sink);
    await run.warmUp();
    return { run, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function startLoad(processes, address, started) {
  const load = processes.fork('./load.mjs', 'load generator');
  started.push(load.stop);
  await load.call('open', address);
  return load;
}

class Run {
  #own;
  #publisher;
  #servers;
  #sink;
  #expected = 0;
  /** In the last part of the warm-up. */
  #perSecond = 0;

  constructor(own, publisher, servers, sink) {
    this.#own = own;
    this.#publisher = publisher;
    this.#servers = servers;
    this.#sink = sink;
  }

  async warmUp() {
    const endsAt = monotonicMs() + WARM_UP_MS;
    do {
      const { startedAt, endedAt } = await this.#checkedStream(WARM_UP_EVENTS);
      this.#perSecond = (WARM_UP_EVENTS * 1000) / (endedAt - startedAt);
    } while (monotonicMs() < endsAt);
  }

  /** As fast as possible, for about so long: from the first publish to the last result that is stored. */
  async throughput(seconds, mostEvents) {
    const events = Math.min(mostEvents, Math.ceil(seconds * this.#perSecond));
    // It may have waited a minute for its turn, and whoever wakes up is slow for a moment.
    await this.#checkedStream(Math.ceil(events / 3));
    await this.#sink?.call('reset', { mode: 'count' });
    const before = await this.usage();
    const { startedAt, acceptedAt, endedAt } = await this.#stream(events);
    const after = await this.usage();
    await this.#arrived(events);
    return {
      perSecond: (events * 1000) / (endedAt - startedAt),
      acceptedPerSecond: (events * 1000) / (acceptedAt - startedAt),
      cpuPerThousandS: ((after.cpuS - before.cpuS) * 1000) / events,
      peakRssBytes: after.peakRssBytes,
    };
  }

  /** At a steady pace: how long after the call each event arrived. */
  async latencies(ratePerSecond, seconds) {
    await this.#sink.call('reset', { mode: 'record' });
    const { calls, latestMs } = await this.#own.call('pace', { ratePerSecond, seconds }, PACE_TIMEOUT_MS);
    this.#expected += calls.length;
    await this.#own.call('recorded', { total: this.#expected });
    await this.#arrived(calls.length);
    const arrivedAt = new Map(await this.#sink.call('arrivals'));
    const latenciesMs = calls.map(([id, calledAt]) => arrivedAt.get(id) - calledAt);
    if (latenciesMs.some(Number.isNaN)) throw new Error('an event arrived under an id that nobody published');
    return { latenciesMs, latestMs };
  }

  /** Queues events for the endpoint that accepts and never answers. */
  async flood(events) {
    await this.#own.call('publish', { events, to: 'silent' });
  }

  /** How many requests that endpoint has in its hands now. */
  async held() {
    return (await this.#sink.call('count')).holding;
  }

  /** All processes of the contestant, but neither the sink nor the load generator. */
  async usage() {
    const usages = [this.#own.call('usage'), ...this.#servers.map((server) => server.usage())];
    const all = await Promise.all(usages);
    const sum = (key) => all.reduce((total, usage) => total + usage[key], 0);
    return { cpuS: sum('cpuS'), peakRssBytes: sum('peakRssBytes') };
  }

  /** Of each event the sink checks length and signature. */
  async #checkedStream(events) {
    await this.#sink?.call('reset', { mode: 'check' });
    const times = await this.#stream(events);
    await this.#arrived(events);
    return times;
  }

  async #stream(events) {
    this.#expected += events;
    const { startedAt, acceptedAt } = await this.#publisher.call('publish', { events });
    const { endedAt } = await this.#own.call('recorded', { total: this.#expected });
    return { startedAt, acceptedAt, endedAt };
  }

  /** Every event once: none is missing, none came twice, and those that were checked were right. */
  async #arrived(events) {
    if (this.#sink === undefined) return;
    const deadline = Date.now() + ARRIVAL_MS;
    for (;;) {
      const { arrived, fault } = await this.#sink.call('count');
      if (fault !== undefined) throw new Error(`a request is not right: ${fault}`);
      if (arrived > events) throw new Error(`${arrived} arrived for ${events} published`);
      if (arrived === events) return;
      if (Date.now() > deadline) throw new Error(`only ${arrived} of ${events} arrived within ${ARRIVAL_MS / 1000} s`);
      await sleep(LOOK_EVERY_MS);
    }
  }
}
