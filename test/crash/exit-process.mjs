// The process whose handler ends it: the built library with one source that verifies nothing, and one event.
import { createPosthorn } from '../../dist/index.js';

const { STORE, EXIT } = process.env;
const posthorn = await createPosthorn({ store: STORE, logger: false });
const source = posthorn.source('none', {}).on('*', (_, { eventId }) => {
  if (EXIT === 'yes') process.exit(3);
  process.send({ eventId });
});
await source.ready();
if (EXIT === 'yes') {
  const body = JSON.stringify({ type: 'order.paid', id: 1 });
  await source.receive(new Request('http://localhost/', { method: 'POST', body }));
}
process.on('message', async () => {
  const read = async () => (await posthorn.served.store.listAttempts({ limit: 10, order: 'ascending' })).items;
  let items = await read();
  // The handler has just returned: that it did is written a moment later.
  while (items.length < 2) items = await read();
  process.send(items.map(({ error, decision }) => [error ?? 'none', decision.kind]));
  await posthorn.close();
  process.exit();
});
