/** The service: Posthorn, the program's own database, and the server in front of both. */
import { createServer, type Server } from 'node:http';
import { createPosthorn, type Posthorn, type PosthornOptions } from 'posthorn';
import { stripeSubscriptions } from 'posthorn/policy';
import { type Database, inPublic, isPostgres, openDatabase } from './database.ts';
import { handleSubscriptions, type StripeEvents } from './handlers.ts';
import { createRoutes } from './routes.ts';

export interface ServiceOptions extends PosthornOptions {
  readonly stripeSecret: string;
  /** `postgres://…` for both Posthorn and the records, or a folder for two SQLite files. */
  readonly database: string;
  /** For the paths that show and change accounts and dead letters; without it they are closed. */
  readonly operatorToken?: string | undefined;
  readonly maxRetries?: number;
}

export interface Service {
  readonly hooks: Posthorn;
  readonly database: Database;
  readonly server: Server;
  close(): Promise<void>;
}

export async function createService(options: ServiceOptions): Promise<Service> {
  const { stripeSecret, database: place, operatorToken, maxRetries = 3, ...posthorn } = options;
  // One URL for both: a handler's transaction is Posthorn's, and has to find the same tables.
  const url = isPostgres(place) ? inPublic(place) : undefined;
  const database = await openDatabase(url ?? `${place}/subscriptions.db`);
  const hooks = await createPosthorn({ store: url ?? `sqlite:${place}/posthorn.db`, ...posthorn });
  const policy = stripeSubscriptions({ maxRetries });
  const stripe = hooks.source<StripeEvents>('stripe', { secret: stripeSecret, policy });
  handleSubscriptions(stripe, database);
  await stripe.ready();

  const receive = stripe.node();
  const answer = createRoutes({ hooks, stripe, database, operatorToken, logger: posthorn.logger });
  const server = createServer((request, response) => {
    if (request.url === '/webhooks/stripe') return receive(request, response);
    void answer(request).then(([status, body]) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    );
  });

  return {
    hooks,
    database,
    server,
    async close() {
      server.close();
      server.closeAllConnections();
      await hooks.close();
      await database.close();
    },
  };
}
