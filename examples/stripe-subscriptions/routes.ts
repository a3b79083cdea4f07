/** What the service answers besides webhooks: health to anybody, accounts and dead letters to whoever has the operator's token. */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { type DeclaredSource, isPosthornError, type Logger, type Posthorn } from 'posthorn';
import type { Database } from './database.ts';
import type { StripeEvents } from './handlers.ts';
import { accountOf, saveUser } from './subscriptions.ts';

export interface RoutesOptions {
  readonly hooks: Posthorn;
  readonly stripe: DeclaredSource<StripeEvents>;
  readonly database: Database;
  readonly operatorToken: string | undefined;
  readonly logger: Logger | false | undefined;
}

type Answer = readonly [status: number, body: unknown];

export function createRoutes({ hooks, stripe, database, operatorToken, logger }: RoutesOptions) {
  /** Never rejects. */
  return (request: IncomingMessage): Promise<Answer> => answer(request).catch(failed);

  async function answer(request: IncomingMessage): Promise<Answer> {
    const [path = '', query] = (request.url ?? '').split('?');
    const [, area, id = '', verb] = path.split('/');
    const route = `${request.method} ${area}`;
    if (route === 'GET health' && id === 'webhooks') {
      const health = await hooks.webhookHealth();
      return [health.status === 'unhealthy' ? 503 : 200, health];
    }
    if (!isOperator(request)) return [401, { error: 'Send the OPERATOR_TOKEN as a bearer token' }];
    if (route === 'POST users') return postUser(await json(request).catch(() => undefined));
    if (route === 'GET users') {
      const account = await accountOf(database, id);
      return account === undefined ? [404, { error: `There is no user ${id}` }] : [200, account];
    }
    if (route === 'GET dead-letters') return [200, await listDeadLetters(new URLSearchParams(query).get('iterator'))];
    if (route === 'POST dead-letters' && verb === 'retry') {
      const retried = await stripe.retry(id);
      return retried === 0 ? [404, { error: `There is no dead letter of the event ${id}` }] : [202, { retried }];
    }
    return [404, { error: 'There is no such path' }];
  }

  async function postUser(given: unknown): Promise<Answer> {
    const { id, email, stripe_customer_id } = Object(given) as Record<string, unknown>;
    if (!isText(id) || !isText(email) || !isText(stripe_customer_id)) {
      return [400, { error: 'Send JSON with three texts: id, email and stripe_customer_id' }];
    }
    const isSaved = await saveUser(database, { id, email, stripe_customer_id });
    return isSaved ? [201, {}] : [409, { error: `Another user has the Stripe customer ${stripe_customer_id}` }];
  }

  /** A page, each with the provider's id of its event: a retry is asked for by it. */
  async function listDeadLetters(iterator: string | null) {
    const page = await hooks.deadLetters.list(iterator === null ? {} : { iterator });
    const data = page.data.map(async (letter) => {
      const { message } = await hooks.deadLetters.get(letter.delivery.id);
      return { eventId: message.eventId, ...letter };
    });
    return { data: await Promise.all(data), iterator: page.iterator, done: page.done };
  }

  function failed(error: unknown): Answer {
    if (isPosthornError(error, 'validation')) return [400, { error: error.message }];
    // Somebody else took the dead letter meanwhile.
    if (isPosthornError(error, 'not_found')) return [404, { error: error.message }];
    if (logger) logger.error({ error: String(error) }, 'a request failed');
    return [500, { error: 'Something failed here: the log says what' }];
  }

  function isOperator({ headers }: IncomingMessage): boolean {
    const given = Buffer.from(headers.authorization ?? '');
    const wanted = Buffer.from(`Bearer ${operatorToken}`);
    return operatorToken !== undefined && given.length === wanted.length && timingSafeEqual(given, wanted);
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
