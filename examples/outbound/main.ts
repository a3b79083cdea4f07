/** A shop that tells its customers' endpoints about orders. On PostgreSQL the order and its webhook are one commit. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { createPosthorn } from 'posthorn';

const { ENDPOINT_URL, DATABASE_URL, DATA_DIR = '.' } = process.env;
if (!ENDPOINT_URL) throw new Error('Set ENDPOINT_URL: where the webhook goes, as in http://127.0.0.1:4000/');

const posthorn = await createPosthorn({
  store: DATABASE_URL ?? `sqlite:${DATA_DIR}/outbound-posthorn.db`,
  // For trying it out on one machine. Without it, only public addresses are sent to.
  allowNetworks: ['127.0.0.0/8'],
});
const { record: customer } = await posthorn.applications.create({ name: 'Acme', uid: 'acme' }, { getIfExists: true });
const { data: endpoints } = await posthorn.endpoints.list(customer.id);
if (!endpoints.some(({ url }) => url === ENDPOINT_URL)) {
  const endpoint = await posthorn.endpoints.create(customer.id, { url: ENDPOINT_URL });
  console.log(`made ${endpoint.id}; the receiver verifies with its secret`);
}

const order = { id: randomUUID(), total: 100 };
const event = {
  application: 'acme',
  eventType: 'order.placed',
  eventId: order.id,
  payload: { type: 'order.placed', order },
};
const attempted = new Promise<void>((resolve) => {
  posthorn.on((told) => {
    if (told.kind !== 'attempt') return;
    console.log(`${told.attempt.eventType} to ${told.attempt.url}: ${told.attempt.decision.reason}`);
    resolve();
  });
});

if (DATABASE_URL === undefined) {
  await posthorn.publish(event);
} else {
  const client = new pg.Client({ connectionString: DATABASE_URL });
  await client.connect();
  // Named with their schema: for a role called posthorn, the schema posthorn comes before `public`.
  await client.query('CREATE TABLE IF NOT EXISTS public.orders (id text PRIMARY KEY, total integer NOT NULL)');
  await client.query('BEGIN');
  await client.query('INSERT INTO public.orders VALUES ($1, $2)', [order.id, order.total]);
  // The webhook exists if, and only if, the order does.
  await posthorn.publish(event, { client });
  await client.query('COMMIT');
  await client.end();
}
console.log(`order ${order.id} is placed`);

await attempted;
await posthorn.close();
