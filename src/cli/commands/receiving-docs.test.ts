/** docs/receiving.md: its commands are run, its program is compiled, its tables are what the code says. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PermanentError, RetryableError } from '../../inbound/handlers/handler-errors.ts';
import { toOutcome } from '../../inbound/handlers/to-outcome.ts';
import { findProvider, PROVIDERS } from '../../inbound/providers/index.ts';
import { classify } from '../../policy/classify.ts';
import { presets } from '../../policy/index.ts';
import { secretSetting } from '../../resources/index.ts';
import { compilerErrors, programsIn, runProgram } from '../../testing/docs-programs.ts';
import { type ScriptedReceiver, startReceiver } from '../../testing/scripted-receiver.ts';
import { openReceivingRig, type ReceivingRig } from '../testing/receiving-rig.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const docs = readFileSync(`${root}docs/receiving.md`, 'utf8');
const commands = [...docs.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, text = '']) => text.trim().split('\n'));
const between = (mark: string) => docs.split(`<!-- ${mark} -->\n`)[1]?.split(`<!-- /${mark} -->`)[0];

let rig: ReceivingRig;
let app: ScriptedReceiver;
beforeAll(async () => {
  rig = await openReceivingRig();
  app = await startReceiver();
});
afterAll(async () => {
  await app?.close();
  await rig?.[Symbol.asyncDispose]();
});

function providersTable(): string {
  const rows = PROVIDERS.map(({ name, title, doc, settings }) => {
    const all = Object.entries(settings).map(([key, { required }]) => (required ? `**${key}**` : key));
    return `| \`${name}\` | ${title} | ${doc.replaceAll('|', '\\|')} | ${all.join(', ')} |\n`;
  });
  return `| provider | | verified by | settings |\n|---|---|---|---|\n${rows.join('')}`;
}

function genericTable(): string {
  const { settings } = findProvider('generic-hmac');
  const rows = Object.entries(settings).map(([key, { doc, oneOf, required }]) => {
    const values = oneOf === undefined ? '' : ` (${oneOf.join(', ')})`;
    return `| ${required ? `**${key}**` : key} | ${doc}${values} |\n`;
  });
  return `| setting | |\n|---|---|\n${rows.join('')}`;
}

const coded = (code: string) => Object.assign(new Error(code), { code });
const ofPostgres = (code: string) => Object.assign(coded(code), { severity: 'ERROR' });
const answered = (status: number) => Object.assign(new Error('an answer'), { response: { status } });
const ERRORS: readonly (readonly [words: string, thrown: unknown])[] = [
  ['`RetryableError`', new RetryableError('later')],
  ['`PermanentError`', new PermanentError('never')],
  ['a validation error (zod, ajv, valibot, …)', Object.assign(new Error('x'), { name: 'ZodError', issues: [] })],
  [
    "a `SyntaxError`, or got's `ParseError` (another server's error page where JSON was asked for)",
    new SyntaxError('Unexpected token < in JSON at position 0'),
  ],
  ['a network error (`ECONNREFUSED`, `ETIMEDOUT`, DNS, …)', coded('ECONNREFUSED')],
  ['a lost database or Redis connection', coded('57P01')],
  ['a deadlock, a serialization failure, a foreign row that is not there yet', ofPostgres('40001')],
  ['a unique key that is taken', ofPostgres('23505')],
  ['data that a table never takes (null, out of range, a failed check)', ofPostgres('22003')],
  ["another server's 429 or 5xx", answered(503)],
  [
    "another server's 408, 409 or 425 (it waited too long, is still at work on the same key, or wants it later)",
    answered(409),
  ],
  ["another server's other 4xx", answered(403)],
  ['any other error', new Error('a bug')],
];

function errorsTable(): string {
  const { policy } = presets['payments-inbound'];
  const follows = { success: 'success', retry: 'retried by the schedule', reject: 'a dead letter at once' };
  const rows = ERRORS.map(([words, thrown]) => `| ${words} | ${follows[classify(toOutcome(thrown, 1), policy)]} |\n`);
  return `| thrown | what follows |\n|---|---|\n${rows.join('')}`;
}

describe('docs/receiving.md', { timeout: 120_000 }, () => {
  it('lists exactly the providers that there are', () => {
    expect(between('providers')).toBe(providersTable());
  });

  it('says what each setting of generic-hmac is, and is without it', () => {
    expect(between('generic-hmac')).toBe(genericTable());
  });

  it('says of each provider how it is tested, and names those that only we sign for', () => {
    const text = between('tested') ?? '';
    const named = (part: string) => [...part.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name);
    // Free-form senders have no vendor.
    const vendors = PROVIDERS.map(({ name }) => name).filter(
      (name) => !['generic-hmac', 'basic', 'api-key', 'none'].includes(name),
    );
    expect([...new Set(named(text))].sort()).toEqual([...vendors].sort());
    const tests = ['vendors', 'vectors', 'paypal-vector'].map((name) =>
      readFileSync(`${root}src/inbound/providers/${name}.test.ts`, 'utf8'),
    );
    const isTested = (name: string) =>
      tests.some((test) => test.includes(`'${name}'`) || test.includes(`/${name}.ts'`));
    expect(vendors.filter((name) => !isTested(name))).toEqual(named(text.split('\n- ').at(-1) ?? ''));
  });

  it('PAY-03 PAY-04 says of each kind of error what the policy decides', () => {
    expect(between('errors')).toBe(errorsTable());
  });

  it('has commands that work as they stand, one after the other', async () => {
    expect(commands.length).toBeGreaterThanOrEqual(14);
    for (const line of commands) {
      const newest = line.includes('$ID') ? (await rig.json('events list --source stripe')).data[0].id : '';
      const words = line
        .replace('npx posthorn ', '')
        .replace('$ID', newest)
        .replace('http://localhost:4000/', app.url)
        .replace('https://shop.example.com/webhooks', `${app.url}shop`);
      // What was triggered before is followed to its end, so that this ends too.
      const ended = words.startsWith('listen') ? `${words} --since 1h --count 4` : words;
      const ran = await rig.run(ended);
      expect([line, ran.exitCode, ran.err]).toEqual([line, 0, '']);
    }
    expect(app.arrivals.filter(({ path }) => path === '/webhooks')).toHaveLength(5);
  });

  it('shows settings that verify what those providers send', async () => {
    const program = programsIn(docs).find((text) => text.includes('settings:')) ?? '';
    const env = {
      GITLAB_SIGNING_TOKEN: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
      PARTNER_SECRET: 'between us',
    };
    await runProgram(program, { createPosthorn: async () => rig.inbound, process: { env } });
    const gitlab = ['trigger', 'gitlab', 'push', '--setting'];
    const partner = ['trigger', 'generic-hmac', 'order.paid', '--source', 'partner', '--secret'];
    expect((await rig.run([...gitlab, `signingToken=${env.GITLAB_SIGNING_TOKEN}`])).out).toContain('  200  ');
    expect((await rig.run([...partner, env.PARTNER_SECRET])).out).toContain('  200  ');
    expect((await rig.run([...partner, 'of somebody else'])).out).toContain('401');
  });

  it('names each provider that `secret` is no short form for, though it has secrets', () => {
    const unclear = PROVIDERS.filter(
      (each) => secretSetting(each) === undefined && Object.values(each.settings).some(({ secret }) => secret),
    );
    expect(unclear.map(({ title }) => title)).toEqual(['GitLab']);
    expect(docs).toContain('GitLab has two secrets, neither of which is the main one');
  });

  it('has programs that compile', () => {
    const programs = programsIn(docs);
    expect(programs).toHaveLength(4);
    expect(compilerErrors(programs)).toEqual([]);
  });
});
