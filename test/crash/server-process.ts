/** The real program in a process of its own, to be killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** Several at once on two slow cores take their time. */
const START_MS = 60_000;

export const ADMIN_TOKEN = 'crash-test-admin-token';

export interface ServerProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** Everything it printed, for the failure message. */
  output(): string;
  /** Ends it with a signal and waits until it is gone. */
  end(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts `posthorn serve` (or `dev`) on a store and waits until it answers. */
export async function startServer(options: {
  command?: 'serve' | 'dev';
  /** A store URL. */
  store: string;
  port: number;
  env?: Record<string, string>;
}): Promise<ServerProcess> {
  if (!existsSync(PROGRAM)) throw new Error('dist/ is missing: run `npm run build` first (npm test does).');
  const child = spawn(process.execPath, [PROGRAM, options.command ?? 'serve'], {
    env: {
      PATH: process.env.PATH,
      POSTHORN_STORE: options.store,
      POSTHORN_PORT: String(options.port),
      POSTHORN_ADMIN_TOKEN: ADMIN_TOKEN,
      POSTHORN_ALLOW_NETWORKS: '127.0.0.0/8',
      POSTHORN_LOG_LEVEL: 'error',
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      printed = (printed + chunk.toString()).slice(-10_000);
    });
  }
  const exit = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const url = `http://127.0.0.1:${options.port}`;
  const server: ServerProcess = {
    url,
    child,
    output: () => printed,
    async end(signal) {
      child.kill(signal);
      const [code, by] = await exit;
      return { code, signal: by };
    },
  };
  try {
    await untilAnswers(server);
  } catch (error) {
    await server.end('SIGKILL');
    throw error;
  }
  return server;
}

async function untilAnswers(server: ServerProcess): Promise<void> {
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline) {
    if (server.child.exitCode !== null) throw new Error(`the server ended before it answered:\n${server.output()}`);
    const answered = await fetch(`${server.url}/health/ping`).then(
      (response) => response.ok,
      () => false,
    );
    if (answered) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`the server does not answer:\n${server.output()}`);
}
