/** A server that takes webhooks in, listening on loopback, and the command line pointed at it. */
import type { AddressInfo } from 'node:net';
import { createServer } from '../../api/index.ts';
import { createInboundRig, type InboundRig, type InboundRigOptions } from '../../inbound/testing/inbound-rig.ts';
import { type Ran, runInMemory } from './run-in-memory.ts';

export interface ReceivingRig extends AsyncDisposable {
  readonly inbound: InboundRig;
  readonly url: string;
  readonly env: Readonly<Record<string, string>>;
  run(words: readonly string[] | string): Promise<Ran>;
  /** What a command prints with --json. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
  json(words: readonly string[] | string): Promise<any>;
}

export async function openReceivingRig(options: InboundRigOptions = {}): Promise<ReceivingRig> {
  const inbound = await createInboundRig(options);
  const { resources, store, clock, receiver } = inbound;
  const server = createServer({ resources, store, clock, receiver, logger: false });
  await server.listen({ host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
  const { token } = await resources.tokens.create({ name: 'test', scope: 'admin' });
  const env = { POSTHORN_URL: url, POSTHORN_ADMIN_TOKEN: token };
  const run = (words: readonly string[] | string) => runInMemory(words, env);
  return {
    inbound,
    url,
    env,
    run,
    async json(words) {
      const all = typeof words === 'string' ? words.split(' ') : words;
      const { out, err } = await run([...all, '--json']);
      if (err !== '') throw new Error(err);
      return JSON.parse(out);
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await inbound[Symbol.asyncDispose]();
    },
  };
}
