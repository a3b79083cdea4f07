// The load generator of the HTTP API: 128 connections, one message per request, in a process of its own.
import { Pool } from 'undici';
import { answer } from './answer.mjs';
import { EVENT_TYPE, payload } from './event.mjs';
import { monotonicMs } from './monotonic.mjs';

const CONNECTIONS = 128;

let pool;
let request;

answer({
  open({ apiUrl, application, token }) {
    pool = new Pool(apiUrl, { connections: CONNECTIONS, pipelining: 1 });
    request = {
      method: 'POST',
      path: `/api/v1/app/${application}/msg`,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ eventType: EVENT_TYPE, payload }),
    };
  },

  async publish({ events }) {
    const startedAt = monotonicMs();
    let left = events;
    const publisher = async () => {
      while (left-- > 0) {
        const { statusCode, body } = await pool.request(request);
        if (statusCode !== 202) throw new Error(`the API answered ${statusCode}: ${await body.text()}`);
        await body.dump();
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, publisher));
    return { startedAt, acceptedAt: monotonicMs() };
  },

  close: () => pool.close(),
});
