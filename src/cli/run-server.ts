/** A server from its start to its graceful end, for `serve` and `dev` alike. */
import type { FastifyInstance } from 'fastify';
import { type Logger, pino } from 'pino';
import { createServer } from '../api/index.ts';
import type { Config } from '../config/index.ts';
import { PosthornError } from '../errors.ts';
import { createPosthorn, type Posthorn } from '../posthorn.ts';
import { readPackageFile } from './package-file.ts';
import { stopSignals } from './stop-signals.ts';
import type { Terminal } from './terminal.ts';

export interface Running {
  readonly posthorn: Posthorn;
  readonly server: FastifyInstance;
}

export interface RunOptions {
  readonly config: Config;
  readonly terminal: Terminal;
  /** Adds to the server before it listens. */
  readonly extend?: (running: Running) => void;
  /** Says to a person what now runs, and where. */
  readonly announce: (running: Running, url: string) => Promise<void>;
}

/** How long requests that are under way may hold up the end. */
const REQUESTS_GRACE_MS = 5000;

export async function runServer({ config, terminal, extend, announce }: RunOptions): Promise<void> {
  const logger: Logger = pino({ level: config.logLevel });
  const posthorn = await createPosthorn({ ...config, logger });
  const server = createServer({
    ...posthorn.served,
    logger,
    version: readPackageFile().version,
    bodyLimitBytes: config.bodyLimitBytes,
  });
  const running = { posthorn, server };
  const signals = stopSignals(terminal.clock);
  try {
    extend?.(running);
    await listen(server, config);
    await announce(running, urlOf(server, config.host));
    await signals.first;
    terminal.out('Stopping: finishing what is under way. Once more stops at once.\n');
  } finally {
    await closeServer(server, terminal);
    await posthorn.close();
    signals.forget();
  }
}

async function listen(server: FastifyInstance, { host, port }: Config): Promise<void> {
  try {
    await server.listen({ host, port });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE') throw cause;
    const advice = `Stop what listens there, or set POSTHORN_PORT to another port`;
    throw new PosthornError('conflict', `Port ${port} on ${host} is in use. ${advice} (0 picks a free one).`, {
      cause,
    });
  }
}

async function closeServer(server: FastifyInstance, { clock }: Terminal): Promise<void> {
  const impatience = clock.after(REQUESTS_GRACE_MS, () => server.server.closeAllConnections());
  await server.close();
  impatience.cancel();
}

/** An address that works from this machine: nobody can connect to "every interface". */
function urlOf(server: FastifyInstance, host: string): string {
  const address = server.server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
