// The endpoints that all contestants send to: plain node:http servers in a process of their own. One counts and answers;
// the other, at an origin of its own, takes the request and never answers.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { answer } from './answer.mjs';
import { faultOf } from './event.mjs';
import { monotonicMs } from './monotonic.mjs';

let mode = 'count';
let arrived = 0;
let holding = 0;
let arrivals = [];
let fault;

const server = createServer((request, response) => {
  if (mode === 'check') return check(request, response);
  if (mode === 'record') arrivals.push([request.headers['webhook-id'], monotonicMs()]);
  request.resume();
  request.on('end', () => {
    arrived += 1;
    response.end();
  });
});
// A connection that is closed while it idles would be opened again in the middle of a measurement.
server.keepAliveTimeout = 600_000;

const silent = createServer((request, response) => {
  holding += 1;
  response.on('close', () => {
    holding -= 1;
  });
  request.resume();
});

async function listen(listener) {
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return `http://127.0.0.1:${listener.address().port}/hook`;
}

function check(request, response) {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    fault ??= faultOf(request.headers, Buffer.concat(chunks));
    arrived += 1;
    response.end();
  });
}

answer({
  async listen() {
    return { url: await listen(server), silentUrl: await listen(silent) };
  },
  /** count: as cheap as it gets. check: every signature and length. record: when each webhook-id arrived. */
  reset(next) {
    mode = next.mode;
    arrived = 0;
    arrivals = [];
    fault = undefined;
  },
  count: () => ({ arrived, holding, fault }),
  arrivals: () => arrivals,
});
