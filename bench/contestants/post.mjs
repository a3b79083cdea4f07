// The two ways to post that contestants use. Both sign the bytes that they send and give the status.
import axios from 'axios';
import { Pool } from 'undici';
import { signedHeaders } from '../event.mjs';
import { IN_FLIGHT } from './in-flight.mjs';

/** As it comes: Node's global agent keeps connections alive. A status that is not a 2xx throws. */
export async function postWithAxios({ deliveryId, url, payload }) {
  const headers = signedHeaders(deliveryId, JSON.stringify(payload));
  const response = await axios.post(url, payload, { timeout: 30_000, headers });
  return response.status;
}

/** The fastest HTTP client there is for Node. */
export function openUndici(url) {
  const { origin, pathname } = new URL(url);
  const timeouts = { headersTimeout: 30_000, bodyTimeout: 30_000 };
  const pool = new Pool(origin, { connections: IN_FLIGHT, pipelining: 1, ...timeouts });
  return {
    async post({ deliveryId, payload }) {
      const body = JSON.stringify(payload);
      const headers = signedHeaders(deliveryId, body);
      const response = await pool.request({ method: 'POST', path: pathname, headers, body });
      await response.body.dump();
      if (response.statusCode >= 200 && response.statusCode < 300) return response.statusCode;
      throw Object.assign(new Error(`the endpoint answered ${response.statusCode}`), {
        response: { status: response.statusCode },
      });
    },
    close: () => pool.close(),
  };
}
