// Document 002 with the fastest HTTP client there is for Node in place of axios: what is left is the queue.
import { Pool } from 'undici';
import { signedHeaders } from '../event.mjs';
import { openBullmq } from './bullmq.mjs';
import { IN_FLIGHT } from './in-flight.mjs';

export async function open(options) {
  const { origin, pathname } = new URL(options.url);
  const timeouts = { headersTimeout: 30_000, bodyTimeout: 30_000 };
  const pool = new Pool(origin, { connections: IN_FLIGHT, pipelining: 1, ...timeouts });
  const bullmq = await openBullmq(options, async ({ deliveryId, payload }) => {
    const body = JSON.stringify(payload);
    const response = await pool.request({
      method: 'POST',
      path: pathname,
      headers: signedHeaders(deliveryId, body),
      body,
    });
    await response.body.dump();
    return response.statusCode;
  });
  return {
    ...bullmq,
    async close() {
      await bullmq.close();
      await pool.close();
    },
  };
}
