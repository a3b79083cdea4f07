// The limit: sign and post with undici, store nothing. Nothing that also stores can be faster than this.
import { Pool } from 'undici';
import { payload, signedHeaders } from '../event.mjs';
import { IN_FLIGHT } from './in-flight.mjs';

/** Publishing is sending here: as many callers as may be in flight. */
export const publishers = IN_FLIGHT;

export async function open({ url, onRecorded, onTrouble }) {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { connections: IN_FLIGHT, pipelining: 1 });
  const body = JSON.stringify(payload);
  return {
    async publish(id) {
      const response = await pool.request({ method: 'POST', path: pathname, headers: signedHeaders(id, body), body });
      await response.body.dump();
      if (response.statusCode === 200) onRecorded();
      else onTrouble(`the sink answered ${response.statusCode}`);
      return id;
    },
    close: () => pool.close(),
  };
}
