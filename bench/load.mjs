// The load generator of the HTTP API and of receiving: 128 connections, one message per request, in a process of its own.
import { answer } from './answer.mjs';
import { EVENT_TYPE, payload } from './event.mjs';
import { monotonicMs } from './monotonic.mjs';
import { openConnection, toBytes } from './raw-client.mjs';
import { stripeRequest } from './stripe-event.mjs';

const CONNECTIONS = 128;

let connections = [];
let nextRequest;
let sent = 0;

answer({
  async open({ apiUrl, application, token, receivesAt }) {
    const { host } = new URL(apiUrl);
    connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => openConnection(apiUrl)));
    if (receivesAt !== undefined) {
      nextRequest = () => toBytes({ host, ...stripeRequest(receivesAt, ++sent) });
      return;
    }
    const request = toBytes({
      host,
      path: `/api/v1/app/${application}/msg`,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ eventType: EVENT_TYPE, payload }),
    });
    nextRequest = () => request;
  },

  async publish({ events }) {
    const requests = Array.from({ length: events }, () => nextRequest());
    const startedAt = monotonicMs();
    let next = 0;
    const publisher = async (connection) => {
      while (next < requests.length) {
        const { status, body } = await connection.post(requests[next++]);
        if (status !== 202 && status !== 200) throw new Error(`the server answered ${status}: ${body}`);
      }
    };
    await Promise.all(connections.map(publisher));
    return { startedAt, acceptedAt: monotonicMs() };
  },

  close() {
    for (const connection of connections) connection.close();
  },
});
