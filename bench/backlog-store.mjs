// The process that fills a store with pending deliveries, below the engine, and times claims on it.
import { answer } from './answer.mjs';
import { distUrl } from './contestants/dist-url.mjs';
import { EVENT_TYPE, payload, SECRET } from './event.mjs';
import { monotonicMs } from './monotonic.mjs';
import { ownUsage } from './usage.mjs';

const BATCH = 1000;
/** Half of the backlog is one endpoint's, the other half is spread over the others. */
const OTHER_ENDPOINTS = 250;
/** These are asked for by name; the rest are there to be found, and there are more of them than claims. */
const NAMED_ENDPOINTS = 28;
const LEASE_MS = 3_600_000;
/** A claim: 8 lanes by name, the one with the great backlog among them, and one lane that is found by its due time. */
const NAMED_LANES = 8;
const ROOM = 8;

let store;
let ids;
let epoch;
let application;
let fanoutRevision;
const endpoints = [];
let pending = 0;
let turns = 0;

async function open({ dist, file, postgresUrl }) {
  const { createIds } = await import(distUrl(dist, 'ids.js'));
  ids = createIds(() => Date.now());
  store = await (postgresUrl === undefined ? openSqlite(dist, file) : openPostgres(dist, postgresUrl));
  ({ epoch } = await store.join({ now: Date.now(), leaseMs: LEASE_MS, name: 'bench' }));
}

async function openSqlite(dist, path) {
  const { openSqliteStore } = await import(distUrl(dist, 'store/sqlite/index.js'));
  return openSqliteStore({ path });
}

async function openPostgres(dist, url) {
  const { openPostgresStore } = await import(distUrl(dist, 'store/postgres/index.js'));
  return openPostgresStore({ url });
}

async function createEndpoints({ silentUrl }) {
  const times = { createdAt: Date.now(), updatedAt: Date.now() };
  application = { id: ids.next('app'), name: 'backlog', metadata: {}, ...times };
  await store.insert({ kind: 'application', record: application });
  for (let index = 0; index <= OTHER_ENDPOINTS; index++) {
    const id = ids.next('ep');
    const secrets = [{ key: SECRET, createdAt: Date.now() }];
    const described = { url: silentUrl, description: '', version: 1, metadata: {}, headers: {}, secrets };
    await store.insert({ kind: 'endpoint', record: { id, applicationId: application.id, ...described, ...times } });
    endpoints.push(id);
  }
  ({ fanoutRevision } = await store.get({ kind: 'application', idOrName: application.id }));
}

/** Goes on until `total` deliveries are pending. */
async function fill({ total }) {
  while (pending < total) {
    const items = Array.from({ length: Math.min(BATCH, total - pending) }, newItem);
    const { results } = await store.accept({ epoch, now: Date.now(), items });
    const refused = results.find(({ kind }) => kind !== 'accepted');
    if (refused !== undefined) throw new Error(`the store refused a message: ${refused.kind}`);
  }
}

function newItem() {
  const turn = pending++;
  const destinationId = turn % 2 === 0 ? endpoints[0] : endpoints[1 + (((turn - 1) / 2) % OTHER_ENDPOINTS)];
  return {
    message: {
      id: ids.next('msg'),
      applicationId: application.id,
      eventType: EVENT_TYPE,
      payload: new TextEncoder().encode(JSON.stringify(payload)),
      createdAt: Date.now(),
    },
    fanoutRevision,
    deliveries: [{ id: ids.next('dlv'), destinationId, state: 'pending' }],
  };
}

/** How long each claim took and how many deliveries were leased in all. What was leased is given back every time. */
async function claim({ claims }) {
  const timesMs = [];
  let leased = 0;
  for (let index = 0; index < claims; index++) {
    const lanes = [endpoints[0], ...nextNamed()].map((destinationId) => ({ destinationId, room: ROOM }));
    const startedAt = monotonicMs();
    const { deliveries } = await store.claim({ epoch, now: Date.now(), lanes, discover: { lanes: 1, room: ROOM } });
    timesMs.push(monotonicMs() - startedAt);
    leased += deliveries.length;
    await store.release({ epoch, now: Date.now(), ids: deliveries.map(({ id }) => id) });
  }
  return { timesMs, leased };
}

function nextNamed() {
  return Array.from({ length: NAMED_LANES - 1 }, () => endpoints[1 + (turns++ % NAMED_ENDPOINTS)]);
}

answer({ open, createEndpoints, fill, claim, usage: ownUsage, close: () => store.close() });
