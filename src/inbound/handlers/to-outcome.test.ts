import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import axios from 'axios';
import { Redis } from 'ioredis';
import pg from 'pg';
import Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ErrorKind, FailureOutcome, Policy } from '../../model/index.ts';
import { decide, presets } from '../../policy/index.ts';
import { rejectOn } from '../../policy/rule.ts';
import { PermanentError, RetryableError } from './handler-errors.ts';
import { toOutcome } from './to-outcome.ts';

const policy = (name: 'payments-inbound' | 'stripe-subscriptions'): Policy => presets[name].policy;

function follows(error: unknown, by: Policy = policy('payments-inbound')): string {
  const facts = { messageId: 'msg_1', deliveryId: 'dlv_1', attempt: 1, firstAttemptAt: 0, now: 0 };
  const decision = decide({ ...facts, outcome: toOutcome(error, 5) }, by, 0.5);
  return decision.kind === 'dead' ? decision.cause : decision.kind;
}

async function thrownBy(run: () => unknown): Promise<unknown> {
  try {
    await run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

const named = (name: string, fields: object = {}) => Object.assign(new Error(`a ${name}`), { name, ...fields });
const kindOf = (error: unknown): ErrorKind | number => {
  const outcome = toOutcome(error, 0);
  return outcome.kind === 'response' ? outcome.status : outcome.error;
};

/** As got throws it (source/as-promise/index.ts), with the answer that it could not read. */
function gotParseError(): Error {
  const cause = new SyntaxError('Unexpected token < in JSON at position 0');
  return named('ParseError', { code: 'ERR_BODY_PARSE_FAILURE', cause, response: { statusCode: 200 } });
}

/** As Sequelize 6 throws them, with the driver's error under both of its names. */
function sequelize(kind: string, driver: object): Error {
  const parent = Object.assign(new Error('of the driver'), { severity: 'ERROR', ...driver });
  return named(`Sequelize${kind}Error`, { parent, original: parent, errors: [] });
}

let url = '';
/** A port that nobody listens on. */
let closed = 0;
const server = createServer((request, response) => {
  const status = Number(request.url?.slice(1));
  response.writeHead(status, { 'retry-after': '7', 'content-type': 'application/json' });
  response.end('{"error":{"message":"no"}}');
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  closed = (other.address() as AddressInfo).port;
  await new Promise((resolve) => other.close(resolve));
});
afterAll(() => void server.close());

function stripe(to: string): Stripe {
  const { hostname, port } = new URL(to);
  return new Stripe('sk_test_1', { host: hostname, port: Number(port), protocol: 'http', maxNetworkRetries: 0 });
}

describe('errors of real clients', () => {
  it.each([400, 401, 403, 404, 422])(
    'PAY-04 an answer of %i is final, thrown by axios, Stripe or as a Response',
    async (status) => {
      const errors = [
        await thrownBy(() => axios.get(`${url}/${status}`)),
        await thrownBy(() => stripe(url.concat('')).rawRequest('GET', `/${status}`)),
        await fetch(`${url}/${status}`),
      ];
      for (const error of errors) {
        expect(toOutcome(error, 0)).toMatchObject({ kind: 'response', status });
        expect(follows(error)).toBe('rejected');
      }
    },
  );

  it.each([429, 500, 502, 503])('PAY-03 an answer of %i is retried, after as long as it asks', async (status) => {
    const errors = [await thrownBy(() => axios.get(`${url}/${status}`)), await fetch(`${url}/${status}`)];
    for (const error of errors) {
      expect(toOutcome(error, 0)).toMatchObject({ kind: 'response', status, retryAfter: '7' });
      expect(follows(error)).toBe('retry');
    }
  });

  it.each([408, 409, 425])(
    'SUB-12 an answer of %i passes by itself, and is retried after as long as it asks',
    async (status) => {
      const errors = [
        await thrownBy(() => axios.get(`${url}/${status}`)),
        await thrownBy(() => stripe(url).rawRequest('GET', `/${status}`)),
        await fetch(`${url}/${status}`),
      ];
      for (const error of errors) {
        expect(toOutcome(error, 0)).toMatchObject({ kind: 'failure', error: 'retryable', retryAfter: '7' });
        expect(follows(error)).toBe('retry');
        expect(follows(error, policy('stripe-subscriptions'))).toBe('retry');
      }
    },
  );

  it('PAY-03 a refused connection is retried, of fetch, axios and Stripe', async () => {
    const gone = `http://127.0.0.1:${closed}/`;
    expect(kindOf(await thrownBy(() => fetch(gone)))).toBe('connection_refused');
    expect(kindOf(await thrownBy(() => axios.get(gone)))).toBe('connection_refused');
    const byStripe = await thrownBy(() => stripe(gone).customers.list());
    expect(follows(byStripe)).toBe('retry');
    expect(['connection_refused', 'network']).toContain(kindOf(byStripe));
  });

  it('PAY-03 SUB-12 a database or Redis that cannot be reached is retried', async () => {
    const database = new pg.Client({ host: '127.0.0.1', port: closed, connectionTimeoutMillis: 500 });
    expect(follows(await thrownBy(() => database.connect()))).toBe('retry');
    const redis = new Redis({
      host: '127.0.0.1',
      port: closed,
      lazyConnect: true,
      maxRetriesPerRequest: 0,
      retryStrategy: null,
    });
    redis.on('error', () => {});
    expect(follows(await thrownBy(() => redis.get('x')))).toBe('retry');
    redis.disconnect();
    const offline = new Redis({ lazyConnect: true, port: closed, enableOfflineQueue: false, retryStrategy: null });
    offline.on('error', () => {});
    expect(kindOf(await thrownBy(() => offline.get('x')))).toBe('redis');
    offline.disconnect();
  });

  it('data that SQLite never takes is final, by the errors of node:sqlite', async () => {
    const db = new DatabaseSync(':memory:');
    db.exec(`PRAGMA foreign_keys = ON; CREATE TABLE plans (id INTEGER PRIMARY KEY); INSERT INTO plans VALUES (1);
      CREATE TABLE paid (event_id TEXT UNIQUE NOT NULL, amount INTEGER CHECK (amount > 0), plan INTEGER REFERENCES plans (id)) STRICT;
      INSERT INTO paid VALUES ('evt_1', 1, 1)`);
    const errorOf = (sql: string) => thrownBy(() => db.exec(sql));
    const written = async (values: string) => kindOf(await errorOf(`INSERT INTO paid VALUES (${values})`));
    expect(await written("'evt_1', 1, 1")).toBe('duplicate');
    expect(kindOf(await errorOf('INSERT INTO plans VALUES (1)'))).toBe('duplicate');
    expect(await written('NULL, 1, 1')).toBe('validation');
    expect(await written("'evt_2', 0, 1")).toBe('validation');
    expect(await written("'evt_2', 'many', 1")).toBe('validation');
    expect(kindOf(await errorOf("INSERT INTO plans VALUES ('basic')"))).toBe('validation');
    // What it belongs to may only be late.
    expect(await written("'evt_2', 1, 2")).toBe('database');
    db.close();
  });

  it('SUB-12 a SQLite file that another writes to is retried, by the errors of node:sqlite', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'posthorn-'));
    const [writer, other] = [0, 1].map(() => new DatabaseSync(join(folder, 'app.db')));
    writer?.exec('CREATE TABLE paid (event_id TEXT); BEGIN IMMEDIATE');
    const error = await thrownBy(() => other?.exec("INSERT INTO paid VALUES ('evt_1')"));
    expect(kindOf(error)).toBe('database');
    expect(follows(error, policy('stripe-subscriptions'))).toBe('retry');
    for (const db of [writer, other]) db?.close();
    rmSync(folder, { recursive: true });
  });

  it('a timeout of fetch is one', async () => {
    const hangs = createServer(() => {});
    await new Promise<void>((resolve) => hangs.listen(0, '127.0.0.1', resolve));
    const { port } = hangs.address() as AddressInfo;
    const at = `http://127.0.0.1:${port}/`;
    expect(kindOf(await thrownBy(() => fetch(at, { signal: AbortSignal.timeout(30) })))).toBe('timeout');
    expect(kindOf(await thrownBy(() => axios.get(at, { timeout: 30 })))).toBe('timeout');
    hangs.closeAllConnections();
    hangs.close();
  });

  it("PAY-03 JSON that is none is another server's trouble, and retried", async () => {
    const error = await thrownBy(() => JSON.parse('<html>'));
    for (const each of [error, gotParseError()]) {
      expect(follows(each)).toBe('retry');
      expect(follows(each, policy('stripe-subscriptions'))).toBe('retry');
    }
  });
});

describe('errors by their shape', () => {
  it.each<[string, unknown, ErrorKind | number]>([
    ['zod', named('ZodError', { issues: [] }), 'validation'],
    ['joi, yup and mongoose', named('ValidationError', { details: [] }), 'validation'],
    ['TypeBox', named('ParseError'), 'validation'],
    ["got's page of HTML where JSON was asked for", gotParseError(), 'unexpected'],
    ['a broken connection of pg', new Error('Connection terminated unexpectedly'), 'database'],
    ['a pool of pg that is used up', new Error('timeout exceeded when trying to connect'), 'database'],
    ['PostgreSQL shutting down', Object.assign(new Error('x'), { code: '57P01', severity: 'FATAL' }), 'database'],
    ['a deadlock', Object.assign(new Error('x'), { code: '40P01', severity: 'ERROR' }), 'database'],
    [
      'a foreign row that is not there yet',
      Object.assign(new Error('x'), { code: '23503', severity: 'ERROR' }),
      'database',
    ],
    ['a unique violation', Object.assign(new Error('x'), { code: '23505', severity: 'ERROR' }), 'duplicate'],
    ['a value out of range', Object.assign(new Error('x'), { code: '22003', severity: 'ERROR' }), 'validation'],
    ['a duplicate of MySQL', Object.assign(new Error('x'), { code: 'ER_DUP_ENTRY', sqlState: '23000' }), 'duplicate'],
    ['a lost connection of MySQL', Object.assign(new Error('x'), { code: 'PROTOCOL_CONNECTION_LOST' }), 'database'],
    ['a busy SQLite', Object.assign(new Error('x'), { code: 'SQLITE_BUSY' }), 'database'],
    ['a unique violation of Sequelize', sequelize('UniqueConstraint', { code: '23505' }), 'duplicate'],
    ['the same where nobody knows the driver', sequelize('UniqueConstraint', { number: 2627 }), 'duplicate'],
    [
      'a foreign row of Sequelize that is not there yet',
      sequelize('ForeignKeyConstraint', { code: '23503' }),
      'database',
    ],
    ['a value out of range of Sequelize', sequelize('Database', { code: '22003' }), 'validation'],
    ['a deadlock of Sequelize', sequelize('Database', { code: '40P01' }), 'database'],
    ['an invalid model of Sequelize', named('SequelizeValidationError', { errors: [] }), 'validation'],
    ['Prisma without a database', named('PrismaClientInitializationError'), 'database'],
    ['PostgreSQL that refuses', Object.assign(new Error('x'), { code: 'ECONNREFUSED', port: 5432 }), 'database'],
    ['Redis that refuses', Object.assign(new Error('x'), { code: 'ECONNREFUSED', port: 6379 }), 'redis'],
    ['Redis loading', named('ReplyError', { message: 'LOADING Redis is loading the dataset in memory' }), 'redis'],
    ['ioredis giving up', named('MaxRetriesPerRequestError'), 'redis'],
    ['a command that Redis did not answer', new Error('Command timed out'), 'redis'],
    ['node-redis that waited in vain', named('SocketTimeoutError'), 'redis'],
    ['undici closed', named('ClientClosedError', { code: 'UND_ERR_CLOSED' }), 'network'],
    ['postgres.js that lost its connection', Object.assign(new Error('x'), { code: 'CONNECTION_CLOSED' }), 'database'],
    ['postgres.js that got none', Object.assign(new Error('x'), { code: 'CONNECT_TIMEOUT' }), 'database'],
    ['an unknown name', Object.assign(new Error('x'), { code: 'ENOTFOUND' }), 'dns'],
    ['a bad certificate', Object.assign(new Error('x'), { code: 'CERT_HAS_EXPIRED' }), 'tls'],
    [
      'an address tried twice',
      new AggregateError([Object.assign(new Error('x'), { code: 'ECONNREFUSED' })]),
      'connection_refused',
    ],
    ['a code that every object has as a name', Object.assign(new Error('x'), { code: 'constructor' }), 'unexpected'],
    ['a bug', new TypeError("Cannot read properties of undefined (reading 'id')"), 'unexpected'],
    ['nothing', undefined, 'unexpected'],
    ['a string', 'oops', 'unexpected'],
    ['an error with a 200', Object.assign(new Error('x'), { status: 200 }), 'unexpected'],
    ['an error with a redirect', Object.assign(new Error('x'), { response: { status: 302 } }), 'unexpected'],
    ['a server that says gone', Object.assign(new Error('x'), { status: 410 }), 'permanent'],
  ])('%s', (_, error, expected) => {
    expect(kindOf(error)).toBe(expected);
  });

  it('one that nobody foresaw says where it was thrown, and one that is known does not', () => {
    const { message } = toOutcome(new TypeError('no object'), 0) as FailureOutcome;
    expect(message).toMatch(/^TypeError: no object\n {4}at .*to-outcome\.test\.ts:\d+/);
    expect(message).not.toContain('node:internal');
    expect(message.split('\n').length).toBeLessThanOrEqual(7);
    expect(toOutcome(new PermanentError('no such plan'), 0)).toMatchObject({ message: 'PermanentError: no such plan' });
    expect((toOutcome(new Error('x'.repeat(5000)), 0) as FailureOutcome).message).toHaveLength(4097);
  });

  it('what a library says again of its cause is said once', () => {
    const error = new Error('connect failed: socket hang up', { cause: new Error('socket hang up') });
    expect(toOutcome(error, 0)).toMatchObject({
      message: expect.stringMatching(/^connect failed: socket hang up(\n|$)/),
    });
  });

  it('a cause that points back at itself ends', () => {
    const error = new Error('round');
    error.cause = error;
    expect(kindOf(error)).toBe('unexpected');
  });
});

describe('what a handler says itself', () => {
  it('SUB-12 a PermanentError is final and a RetryableError is retried, whatever caused them', () => {
    const validation = named('ZodError');
    expect(follows(new PermanentError('no such plan', { cause: named('X', { code: 'ECONNRESET' }) }))).toBe('rejected');
    expect(follows(new RetryableError('not yet', { cause: validation }))).toBe('retry');
  });

  it('SUB-12 a RetryableError is retried by a policy that rejects errors which nobody expected', () => {
    const own: Policy = { ...policy('payments-inbound'), rules: [rejectOn('unexpected')] };
    expect(follows(new RetryableError('not yet'), own)).toBe('retry');
    expect(follows(new Error('a bug'), own)).toBe('rejected');
  });

  it('reads when to come again however it is spelt', () => {
    const error = Object.assign(new Error('x'), { response: { status: 503, headers: { 'Retry-After': 30 } } });
    expect(toOutcome(error, 0)).toMatchObject({ kind: 'response', status: 503, retryAfter: '30' });
  });

  it('a RetryableError may say when', () => {
    const outcome = toOutcome(new RetryableError('busy', { retryAfterS: 90 }), 0);
    const facts = { messageId: 'm', deliveryId: 'd', attempt: 1, firstAttemptAt: 0, now: 0, outcome };
    expect(decide(facts, policy('payments-inbound'), 0)).toMatchObject({ delayMs: 90_000, source: 'retry-after' });
  });

  it('SUB-12 says so inside another error too, and by a class of its own name', () => {
    class CardDeclined extends PermanentError {
      override readonly name = 'CardDeclined';
    }
    class Busy extends RetryableError {
      override readonly name = 'Busy';
    }
    expect(kindOf(new CardDeclined('no money'))).toBe('permanent');
    expect(kindOf(new Error('while paying', { cause: new CardDeclined('no money') }))).toBe('permanent');
    expect(kindOf(new AggregateError([new PermanentError('no')]))).toBe('permanent');
    const wrapped = new Error('while paying', { cause: new Busy('later', { retryAfterS: 90 }) });
    expect(toOutcome(wrapped, 0)).toMatchObject({ error: 'retryable', retryAfter: '90' });
    expect(follows(new Busy('later', { cause: new PermanentError('no') }))).toBe('retry');
  });

  it('is known by its name, so that a second copy of the package does no harm', () => {
    expect(kindOf(named('PermanentError'))).toBe('permanent');
    expect(kindOf(named('RetryableError'))).toBe('retryable');
  });
});
