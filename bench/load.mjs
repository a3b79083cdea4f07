// The load generator of the HTTP API and of receiving: 128 connections, one message per request, in a process of its own.
import { Pool } from 'undici';
import { answer } from './answer.mjs';
import { EVENT_TYPE, payload } from './event.mjs';
import { monotonicMs } from './monotonic.mjs';
import { stripeRequest } from './stripe-event.mjs';

const CONNECTIONS = 128;

let pool;
let nextRequest;
let sent = 0;

answer({
  open({ apiUrl, application, token, receivesAt }) {
    pool = new Pool(apiUrl, { connections: CONNECTIONS, pipelining: 1 });
    if (receivesAt !== undefined) {
      nextRequest = () => stripeRequest(receivesAt, ++sent);
      return;
    }
    const request = {
      method: 'POST',
      path: `/api/v1/app/${application}/msg`,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ eventType: EVENT_TYPE, payload }),
    };
    nextRequest = () => request;
  },

  async publish({ events }) {
    const startedAt = monotonicMs();
    let left = events;
    const publisher = async () => {
      while (left-- > 0) {
        const { statusCode, body } = await pool.request(nextRequest());
        if (statusCode !== 202 && statusCode !== 200)
          throw new Error(`the API answered ${statusCode}: ${await body.text()}`);
        await body.dump();
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, publisher));
    return { startedAt, acceptedAt: monotonicMs() };
  },

  close: () => pool.close(),
});
