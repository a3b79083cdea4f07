import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { freePort } from '../../scripts/services/free-port.mjs';
import type { Server } from '../../scripts/services/server.mjs';
import { startRedis } from '../../scripts/services/start-redis.mjs';

const NODES = 3;
const SLOTS = 16_384;
const FORMED_MS = 20_000;
const LOOK_EVERY_MS = 50;

export interface RedisCluster {
  readonly nodes: readonly Server[];
  readonly urls: readonly string[];
  stop(): Promise<void>;
}

/** Three masters that share the slots, without replicas: enough to refuse whoever does not keep to one slot. */
export async function startRedisCluster(): Promise<RedisCluster> {
  const nodes: Server[] = [];
  const stop = async () => void (await Promise.all(nodes.map((node) => node.stop())));
  try {
    for (let index = 0; index < NODES; index++) nodes.push(await startNode());
    await form(nodes);
  } catch (error) {
    await stop();
    throw error;
  }
  return { nodes, urls: nodes.map(({ url }) => url), stop };
}

/** The nodes' own port is by default the client's plus 10000, which does not exist for the highest ones. */
async function startNode(): Promise<Server> {
  const settings = { 'cluster-enabled': 'yes', 'cluster-port': await freePort(), 'cluster-node-timeout': 2000 };
  return await startRedis({ settings });
}

async function form(nodes: readonly Server[]): Promise<void> {
  const clients = nodes.map(({ url }) => new Redis(url));
  try {
    const [first = 0] = nodes.map(({ port }) => port);
    const busPort = await clients[0]?.config('GET', 'cluster-port');
    for (const [index, client] of clients.entries()) {
      const [from, to] = [index, index + 1].map((edge) => Math.floor((SLOTS * edge) / nodes.length));
      await client.call('CLUSTER', 'ADDSLOTSRANGE', String(from), String((to ?? SLOTS) - 1));
      await client.call('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1));
      if (index > 0) await client.call('CLUSTER', 'MEET', '127.0.0.1', String(first), (busPort as string[])[1] ?? '');
    }
    const deadline = Date.now() + FORMED_MS;
    while (!(await allKnowAll(clients))) {
      if (Date.now() > deadline) throw new Error(`the Redis Cluster has not formed after ${FORMED_MS / 1000} s`);
      await sleep(LOOK_EVERY_MS);
    }
  } finally {
    for (const client of clients) client.disconnect();
  }
}

async function allKnowAll(clients: readonly Redis[]): Promise<boolean> {
  const infos = await Promise.all(clients.map((client) => client.cluster('INFO')));
  return infos.every(
    (info) => info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${clients.length}`),
  );
}
