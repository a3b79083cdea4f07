/** A server from its start to its graceful end, for `serve` and `dev` alike. */
import type { FastifyInstance } from 'fastify';
import { type Logger, pino } from 'pino';
import { createServer } from '../api/index.ts';
import type { Config } from '../config/index.ts';
import type { EngineEvent } from '../engine/index.ts';
import type { ReceivedNotice } from '../inbound/index.ts';
import { createPosthorn, type Posthorn } from '../posthorn.ts';
import { listenFailure } from './listen-failure.ts';
import { readPackageFile } from './package-file.ts';
import { reachableUrl } from './reachable-url.ts';
import { stopSignals } from './stop-signals.ts';
import type { Terminal } from './terminal.ts';

export interface Running {
  readonly posthorn: Posthorn;
  readonly server: FastifyInstance;
}

export interface Screen {
  tell(event: EngineEvent): void;
  received(notice: ReceivedNotice): void;
}

export interface RunOptions {
  readonly config: Config;
  readonly terminal: Terminal;
  /** Tells a person what happens. Without it that is logged. */
  readonly screen?: Screen;
  /** Adds to the server before it listens. */
  readonly extend?: (running: Running) => void;
  /** Says to a person what now runs, and where. */
  readonly announce: (running: Running, url: string) => Promise<void>;
}

/** How long requests that are under way may hold up the end. */
const REQUESTS_GRACE_MS = 5000;

export async function runServer({ config, terminal, screen, extend, announce }: RunOptions): Promise<void> {
  const logger: Logger = pino({ level: config.logLevel });
  const onReceived = (notice: ReceivedNotice) => screen?.received(notice);
  const posthorn = await createPosthorn({
    ...config,
    ...(screen === undefined ? { logger } : { logger: false, onReceived }),
  });
  if (screen !== undefined) posthorn.on((event) => screen.tell(event));
  await warnOfSources(posthorn, logger);
  const server = createServer({
    ...posthorn.served,
    logger,
    version: readPackageFile().version,
    bodyLimitBytes: config.bodyLimitBytes,
    healthOnly: config.role === 'worker',
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

/** At every start, for as long as such a source is there. */
async function warnOfSources({ sources }: Posthorn, logger: Logger): Promise<void> {
  let iterator: string | undefined;
  do {
    const page = await sources.list(iterator === undefined ? {} : { iterator });
    for (const { uid, id, warning } of page.data) {
      if (warning !== undefined) logger.warn({ source: uid ?? id }, warning);
    }
    iterator = page.done ? undefined : (page.iterator ?? undefined);
  } while (iterator !== undefined);
}

async function listen(server: FastifyInstance, { host, port }: Config): Promise<void> {
  try {
    await server.listen({ host, port });
  } catch (cause) {
    throw listenFailure(cause, host, port);
  }
}

async function closeServer(server: FastifyInstance, { clock }: Terminal): Promise<void> {
  const impatience = clock.after(REQUESTS_GRACE_MS, () => server.server.closeAllConnections());
  await server.close();
  impatience.cancel();
}

function urlOf(server: FastifyInstance, host: string): string {
  const address = server.server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return reachableUrl(host, port);
}
