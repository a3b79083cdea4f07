/** The service: webhooks in, accounts and health out, and the dead letters for whoever has the operator's token. */
import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { json } from 'node:stream/consumers';
import { createPosthorn, type Posthorn, type PosthornOptions } from 'posthorn';
import { stripeSubscriptions } from 'posthorn/policy';
import { type Database, inPublic, isPostgres, openDatabase } from './database.ts';
import { handleSubscriptions, type StripeEvents } from './handlers.ts';
import { accountOf, addUser } from './subscriptions.ts';

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
  const server = createServer((request, response) => {
    if (request.url === '/webhooks/stripe') return receive(request, response);
    answer(request).then(
      ([status, body]) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      () => response.writeHead(500).end(),
    );
  });

  async function answer(request: IncomingMessage): Promise<[status: number, body: unknown]> {
    const [, area, id = '', verb] = (request.url ?? '').split('/');
    const route = `${request.method} ${area}`;
    if (route === 'GET health' && id === 'webhooks') {
      const health = await hooks.webhookHealth();
      return [health.status === 'unhealthy' ? 503 : 200, health];
    }
    if (!isOperator(request)) return [401, { error: 'Send the OPERATOR_TOKEN as a bearer token' }];
    if (route === 'POST users') {
      await addUser(database, (await json(request)) as Parameters<typeof addUser>[1]);
      return [201, {}];
    }
    if (route === 'GET users') return [200, (await accountOf(database, id)) ?? null];
    if (route === 'GET dead-letters') return [200, (await hooks.deadLetters.list()).data];
    if (route === 'POST dead-letters' && verb === 'retry') return [202, { retried: await stripe.retry(id) }];
    return [404, { error: 'There is no such path' }];
  }

  function isOperator({ headers }: IncomingMessage): boolean {
    const given = Buffer.from(headers.authorization ?? '');
    const wanted = Buffer.from(`Bearer ${operatorToken}`);
    return operatorToken !== undefined && given.length === wanted.length && timingSafeEqual(given, wanted);
  }

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
