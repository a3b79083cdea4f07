// Posthorn as a receiver: its server takes a provider's webhooks, stores them, and calls a handler that does nothing; with
// `keeps`, there is none.
import { join } from 'node:path';
import { STRIPE_SECRET } from '../stripe-event.mjs';
import { distUrl } from './dist-url.mjs';

export async function open({ dist, folder, keeps, onRecorded, onTrouble }) {
  const [{ createPosthorn }, { createServer }] = await Promise.all([
    import(distUrl(dist, 'index.js')),
    import(distUrl(dist, 'api/index.js')),
  ]);
  const posthorn = await createPosthorn({
    store: `sqlite:${join(folder, 'posthorn.db')}`,
    logger: false,
    ...(keeps && { onReceived: onRecorded }),
  });
  posthorn.on((event) => {
    if (event.kind === 'trouble') onTrouble(`the store is in trouble: ${event.error}`);
    if (event.kind !== 'attempt') return;
    if (event.attempt.decision.kind === 'delivered') onRecorded();
    else onTrouble(`an attempt failed: ${event.attempt.decision.reason}`);
  });
  const source = posthorn.source('stripe', { secret: STRIPE_SECRET });
  if (!keeps) source.on('*', () => {});
  await source.ready();
  const server = createServer({ ...posthorn.served, logger: false });
  const apiUrl = await server.listen({ host: '127.0.0.1', port: 0 });
  return {
    address: { apiUrl, receivesAt: '/in/stripe' },
    async close() {
      await server.close();
      await posthorn.close(0);
    },
  };
}
