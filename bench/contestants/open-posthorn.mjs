// How Posthorn's contestants open it: as a user of the package would, with loopback targets allowed.
import { join } from 'node:path';
import { SECRET } from '../event.mjs';
import { distUrl } from './dist-url.mjs';
import { IN_FLIGHT } from './in-flight.mjs';

/** The policy of document 002, which BullMQ's contestants follow too: 6 attempts, 30 s for each. */
const POLICY = 'quick';

export async function openPosthorn({ dist, folder, postgresUrl, dispatch, redisUrl, url, onRecorded, onTrouble }) {
  const { createPosthorn } = await import(distUrl(dist, 'index.js'));
  const posthorn = await createPosthorn({
    store: postgresUrl ?? `sqlite:${join(folder, 'posthorn.db')}`,
    ...(dispatch && { dispatch, redisUrl }),
    allowNetworks: ['127.0.0.0/8'],
    endpointMaxInFlight: IN_FLIGHT,
    defaultPolicy: POLICY,
    logger: false,
  });
  posthorn.on((event) => {
    if (event.kind === 'trouble') onTrouble(`the store is in trouble: ${event.error}`);
    // Attempts at the endpoint that never answers fail, as they should, and count for nothing.
    if (event.kind !== 'attempt' || event.attempt.url !== url) return;
    const { decision, status, response } = event.attempt;
    if (decision.kind === 'delivered') onRecorded();
    else onTrouble(`an attempt failed: ${status} ${response} (${decision.reason})`);
  });
  return posthorn;
}

/** An application with one endpoint; answers its id. */
export async function createApplication(posthorn, url) {
  const { record } = await posthorn.applications.create({ name: 'bench' });
  await posthorn.endpoints.create(record.id, { url, secret: SECRET });
  return record.id;
}
