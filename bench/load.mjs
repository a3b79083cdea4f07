// The load generator of the HTTP API and of receiving: 128 connections, one request at a time on each, in a process of its own.
//
// It shares two cores with what it measures, so it does little while it does: requests are made and signed before the clock
// starts, and written to plain sockets. And it looks for answers once a millisecond only. A client that sleeps until an answer
// comes is woken by every one of them, at the server's expense: the bare route took 126 to 146 µs of CPU a request then, 101 to
// 122 with an HTTP client that was itself too busy to sleep, and takes 106 to 115 so (November 2026).
import { once } from 'node:events';
import { connect } from 'node:net';
import { answer } from './answer.mjs';
import { EVENT_TYPE, payload } from './event.mjs';
import { monotonicMs } from './monotonic.mjs';
import { stripeRequest } from './stripe-event.mjs';

const CONNECTIONS = 128;
const PAUSE_MS = 1;

let connections;
let nextRequest;
let sent = 0;

answer({
  async open({ apiUrl, application, token, receivesAt }) {
    const { host, hostname, port } = new URL(apiUrl);
    connections = Array.from({ length: CONNECTIONS }, () => new Connection(hostname, Number(port)));
    await Promise.all(connections.map((connection) => connection.open()));
    if (receivesAt !== undefined) {
      nextRequest = () => bytesOf(host, stripeRequest(receivesAt, ++sent));
      return;
    }
    const request = bytesOf(host, {
      method: 'POST',
      path: `/api/v1/app/${application}/msg`,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ eventType: EVENT_TYPE, payload }),
    });
    nextRequest = () => request;
  },

  async publish({ events }) {
    const requests = Array.from({ length: events }, nextRequest);
    await Promise.all(connections.map((connection) => connection.open()));
    const startedAt = monotonicMs();
    await Promise.all(connections.map((connection) => connection.send(requests)));
    return { startedAt, acceptedAt: monotonicMs() };
  },

  close() {
    for (const connection of connections) connection.close();
  },
});

function bytesOf(host, { method, path, headers, body }) {
  const all = { host, connection: 'keep-alive', ...headers, 'content-length': Buffer.byteLength(body) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** All connections read into it, one after the other: an answer is looked at where it lies, and kept by none. */
const answers = Buffer.alloc(64 * 1024);

class Connection {
  #target;
  #socket;
  /** What has come of an answer that did not come whole. */
  #begun = '';
  #requests = [];
  #end;

  constructor(host, port) {
    const callback = (length) => {
      this.#read(length);
      return true;
    };
    this.#target = { host, port, noDelay: true, onread: { buffer: answers, callback } };
  }

  /** Also again, where the server has closed it between two turns. */
  async open() {
    if (this.#socket?.destroyed === false) return;
    this.#begun = '';
    this.#socket = connect(this.#target);
    this.#socket.on('error', (error) => this.#end?.reject(error));
    this.#socket.on('close', () => this.#end?.reject(new Error('the server closed a connection')));
    await once(this.#socket, 'connect');
  }

  /** Takes requests out of the list, which others take from too, until it is empty and the last is answered. */
  send(requests) {
    this.#requests = requests;
    return new Promise((resolve, reject) => {
      this.#end = { resolve, reject };
      this.#next();
    });
  }

  close() {
    this.#end = undefined;
    this.#socket.destroy();
  }

  #next() {
    const request = this.#requests.pop();
    if (request === undefined) this.#end?.resolve();
    else this.#socket.write(request);
  }

  #read(length) {
    pauseAfterThisTurn();
    const answer = this.#begun + answers.latin1Slice(0, length);
    const head = answer.indexOf('\r\n\r\n');
    const bodyLength = head < 0 ? undefined : Number(LENGTH.exec(answer)?.[1]);
    if (head < 0 || answer.length < head + 4 + bodyLength) {
      this.#begun = answer;
      return;
    }
    this.#begun = '';
    if (answer.length === head + 4 + bodyLength && SUCCESS.test(answer)) this.#next();
    else this.#end?.reject(new Error(`the server answered ${answer.slice(0, 300)}`));
  }
}

const LENGTH = /\r\ncontent-length: (\d+)\r\n/i;
const SUCCESS = /^HTTP\/1\.1 20[02] /;

const nobodyWakes = new Int32Array(new SharedArrayBuffer(4));
let pauses = false;

/** The whole thread, so that no answer wakes it: they are read together when the pause is over. */
function pauseAfterThisTurn() {
  if (pauses) return;
  pauses = true;
  setImmediate(() => {
    pauses = false;
    Atomics.wait(nobodyWakes, 0, 0, PAUSE_MS);
  });
}
