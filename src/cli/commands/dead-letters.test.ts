/** The dead-letters commands against a real server; and every command of docs/dead-letters.md, as written. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type DeliveryRig, openDeliveryRig } from '../../api/testing/delivery-rig.ts';
import { compilerErrors, programsIn, runProgram } from '../../testing/docs-programs.ts';
import { runInMemory } from '../testing/run-in-memory.ts';

const docs = readFileSync(fileURLToPath(new URL('../../../docs/dead-letters.md', import.meta.url)), 'utf8');

let rig: DeliveryRig;
let env: Record<string, string>;
let folder: string;
let tried = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'posthorn-dead-letters-'));
  rig = await openDeliveryRig();
  await rig.endpoint({ uid: 'ep' });
  const url = await rig.server.listen({ host: '127.0.0.1', port: 0 });
  env = { POSTHORN_URL: url, POSTHORN_ADMIN_TOKEN: rig.token };
});

afterAll(async () => {
  await rig?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  await rig.call('POST', 'dead-letter/discard', { filter: { all: true }, reason: 'the end of a test' });
});

/** So many that died of one error, and one that died of another. */
async function letDie(count: number): Promise<void> {
  await rig.attempts(tried);
  for (let n = 0; n <= count; n++) {
    const last = n === count;
    rig.receiver.answer(last ? 503 : 500, last ? 'come back later' : `order ${n} is broken`);
    await rig.publish({ eventType: 'order.paid', payload: { n } });
    tried += 2;
    await rig.attempts(tried);
  }
}

/** Words as a shell has them. */
function words(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '');
}

const run = (line: string) => runInMemory(['dead-letters', ...words(line)], env);
const json = async (line: string) => JSON.parse((await run(`${line} --json`)).out);
const largestGroup = async () => (await json('groups')).data[0].id as string;

describe('posthorn dead-letters', { timeout: 30_000 }, () => {
  it('PAY-09 shows groups, the largest first, and reports them as text, Markdown and JSON', async () => {
    await letDie(2);
    const groups = await run('groups');
    expect(groups.err).toBe('');
    expect(groups.out).toMatch(
      /^count +first +last +owner +group +example +error\n2 .* acme +app_.*HTTP 500: order 1 is broken\n1 /,
    );
    expect((await run('report')).out).toMatch(/: 3 in 2 groups\n\n +2 {2}application acme {2}order.paid\n/);
    expect((await run('report --markdown --since 1d')).out).toContain('| 2 | application acme | order.paid |');
    expect(await json('report')).toMatchObject({ total: 3, groups: [{ count: 2 }, { count: 1 }] });
    expect((await run('report --until 2020-01-01')).out).toContain(': none');
  });

  it('SUB-11 lists by filter, and shows one with its body and every attempt', async () => {
    await letDie(1);
    const list = await run('list --error "come BACK"');
    expect(list.out.trim().split('\n')).toHaveLength(2);
    expect(list.out).toMatch(
      /^id +died +owner +endpoint +event type .*\ndlv_\w+ .* acme +ep http:\/\/127\.0\.0\.1:\d+/,
    );
    const { data } = await json('list --error come --limit 1');
    const shown = (await run(`show ${data[0].id}`)).out;
    expect(shown).toMatch(/^ +owner +acme \(app_\w+\)\n +endpoint +ep http:\S+ \(ep_\w+\)$/m);
    for (const text of ['{"n":1}', 'HTTP 503', 'retry: ', 'dead: ', 'come back later']) expect(shown).toContain(text);
    expect((await run('list --error nothing-like-it')).out).toBe('There are no dead letters here.\n');
    expect((await run('show dlv_none')).err).toContain('There is no delivery "dlv_none"');
  });

  it('SUB-11 a group is replayed in one go, with progress, and nothing else', async () => {
    await letDie(2);
    rig.receiver.answer(200);
    const retried = await run(`retry --group ${await largestGroup()}`);
    expect(retried).toMatchObject({ exitCode: 0, out: '2 are being sent again.\n', err: '2 of 2\n' });
    tried += 2;
    await rig.attempts(tried);
    expect((await json('list')).data).toHaveLength(1);
  });

  it('ALL-06 an id that is no dead letter is named with what it is, the others are taken, and the exit code is 1', async () => {
    expect(await run('retry nope')).toMatchObject({
      exitCode: 1,
      out: '',
      // Alone: a "1 of 1" before it would read as done.
      err: 'posthorn: nope is no dead letter: there is no such delivery\n',
    });
    await letDie(1);
    rig.receiver.answer(200);
    const [{ id }, other] = (await json('list')).data;
    expect(await run(`retry ${id}`)).toMatchObject({ exitCode: 0, out: '1 is being sent again.\n' });
    tried += 1;
    await rig.attempts(tried);
    const mixed = await run(`discard ${other.id} ${id} --reason x`);
    expect(mixed).toMatchObject({ exitCode: 1, out: '1 is given up.\n', err: expect.stringMatching(/^1 of 2\n/) });
    expect(mixed.err).toContain(`${id} is no dead letter: it is delivered (HTTP 200: delivered)`);
    expect(mixed.err).not.toContain(other.id);
    expect((await run('retry --group x')).err).toContain('group must be the id of a group');
  });

  it('takes everything only when that is said, and discards with a reason alone', async () => {
    await letDie(1);
    for (const line of ['retry', 'discard --reason x', 'retry --all --cause exhausted', 'retry dlv_1 --group a/b/c']) {
      expect(await run(line)).toMatchObject({ exitCode: 2, out: '' });
    }
    expect((await run('discard --all')).err).toContain('--reason');
    const { data } = await json('list');
    expect(await json(`discard ${data[0].id} --reason "a test order"`)).toEqual({
      count: 1,
      skipped: 0,
      withoutEndpoint: 0,
      notDead: [],
    });
    expect((await run('discard --all --reason tests')).out).toBe('1 is given up.\n');
  });

  it.each([
    ...['--error ""', '--error " "', '--group ""', '--endpoint ""', '--application ""', '--source ""'],
    ...['--fingerprint ""', '--event-type ""', '--event-type ","', '--event-type "order.paid,"'],
    ...['--since ""', '--since 7', '--until 2027', '--since 2026-02-31', '--until yesterday', '--since 7days'],
  ])('ALL-06 takes, lists and archives nothing by %s: a variable is not set, a unit is forgotten', async (filter) => {
    await letDie(1);
    const file = join(folder, 'nothing.jsonl');
    const commands = ['list', 'retry', 'discard --reason x', `archive --remove --file ${file}`];
    for (const command of commands) {
      const ran = await run(`${command} ${filter}`);
      expect([command, ran.exitCode, ran.out]).toEqual([command, 2, '']);
      expect(ran.err).toMatch(/It is empty: is a variable not set|Write (its unit|a time ago|a duration)/);
    }
    expect((await json('list')).data).toHaveLength(2);
    if (/^--(since|until|application|source)/.test(filter)) expect((await run(`groups ${filter}`)).exitCode).toBe(2);
  });

  it('says what to write in place of a number without a unit', async () => {
    expect((await run('list --since 7')).err).toContain('Write its unit (7d, 7h, 7m), or a date (2030-01-31)');
    expect((await run('retry ""')).err).toMatch(/ids must be a list of .*none of them empty/);
    expect((await run('show ""')).err).toBe('posthorn: "" is no id and no uid: is a variable not set?\n');
  });

  it('takes event types with a space after the comma, all of them', async () => {
    await letDie(1);
    const types = 'order.none, order.paid';
    expect((await json(`list --event-type "${types}"`)).data).toHaveLength(2);
    expect((await json(`discard --event-type "${types}" --reason x`)).count).toBe(2);
  });

  it('ALL-06 says of what it could not take whether others were faster or the endpoint is deleted', async () => {
    await letDie(1);
    const { store } = rig.context;
    const { redeliver, discard } = store;
    const takeFirst = (id: string) => discard({ now: Date.now(), select: { ids: [id] }, reason: 'by another' });
    const [{ id: one }, { id: other }] = (await json('list')).data;
    rig.receiver.answer(200);
    try {
      Object.assign(store, {
        redeliver: (input: Parameters<typeof redeliver>[0]) => takeFirst(one).then(() => redeliver(input)),
        discard: (input: Parameters<typeof discard>[0]) => takeFirst(other).then(() => discard(input)),
      });
      const discarded = await run(`discard ${other} --reason x`);
      expect(discarded).toMatchObject({ exitCode: 0, out: '0 are given up. Somebody else was faster with 1.\n' });
      const retried = await run(`retry ${one}`);
      expect(retried).toMatchObject({
        exitCode: 0,
        out: '0 are being sent again. Somebody else was faster with 1.\n',
      });
    } finally {
      Object.assign(store, { redeliver, discard });
    }
    await using own = await openDeliveryRig();
    await own.endpoint({ uid: 'gone' });
    own.receiver.answer(500);
    await own.publish();
    await own.attempts(2);
    await own.call('DELETE', 'app/acme/endpoint/gone');
    const url = await own.server.listen({ host: '127.0.0.1', port: 0 });
    const there = { POSTHORN_URL: url, POSTHORN_ADMIN_TOKEN: own.token };
    const { out } = await runInMemory(['dead-letters', 'retry', '--all'], there);
    expect(out).toBe('0 are being sent again. 1 could not be: its endpoint is deleted.\n');
  });

  it('gives all up only with --yes where a person types, and says how many there are; a script is not asked', async () => {
    await letDie(1);
    const line = ['dead-letters', 'discard', '--all', '--reason', 'x'];
    const keyboard = { isTTY: true, on: () => {}, off: () => {}, resume: () => {}, pause: () => {} };
    const typed = (...more: string[]) => runInMemory([...line, ...more], env, { keyboard, isTerminal: true });
    expect(await typed()).toEqual({
      exitCode: 2,
      out: '',
      err: 'posthorn: Nothing was given up: --all is 2 dead letters. Give --yes if you mean it\n',
    });
    expect((await json('list')).data).toHaveLength(2);
    expect((await typed('--yes')).out).toBe('2 are given up.\n');
    expect((await typed()).out).toBe('0 are given up.\n');
    await letDie(0);
    const script = { keyboard: { ...keyboard, isTTY: false }, isTerminal: true };
    expect((await runInMemory(line, env, script)).out).toBe('1 is given up.\n');
  });

  it('SUB-13 names the line of the file that is wrong, and takes a file with a byte order mark', async () => {
    await letDie(4);
    const file = join(folder, 'marked.jsonl');
    await run(`archive --file ${file} --remove`);
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    const bad = join(folder, 'third.jsonl');
    writeFileSync(bad, [...lines.slice(0, 2), '', 'nonsense', ...lines.slice(2)].join('\n'));
    expect((await run(`restore ${bad}`)).err).toMatch(/Line 4 of \S+third\.jsonl: is not valid JSON/);
    // In the second request.
    writeFileSync(bad, [...Array.from({ length: 203 }, () => lines[0]), '{}'].join('\n'));
    expect((await run(`restore ${bad}`)).err).toMatch(/Line 204 of \S+third\.jsonl: is not a dead letter's/);
    writeFileSync(file, `\uFEFF${lines.join('\r\n')}`);
    expect(await json(`restore ${file}`)).toMatchObject({ restored: 4, exists: 1 });
  });

  it('SUB-13 archives to a file, removes what is safe there, and restores it, twice without harm', async () => {
    await letDie(2);
    const file = join(folder, 'archive.jsonl');
    expect((await run(`archive --file ${file} --remove`)).out).toContain('3 written to ');
    expect((await json('list')).data).toEqual([]);
    expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(3);
    expect(await json(`restore ${file}`)).toEqual({ restored: 3, exists: 0, missing: 0, conflict: 0 });
    expect((await run(`restore ${file}`)).out).toBe('0 restored, 3 were there already.\n');
    expect((await json('list')).data).toHaveLength(3);
    expect((await run(`archive --file ${file}`)).err).toContain('there is such a file already');
    expect((await run(`restore ${file}.none`)).err).toContain('there is no such file');
    writeFileSync(join(folder, 'bad.jsonl'), 'nonsense\n');
    expect((await run(`restore ${join(folder, 'bad.jsonl')}`)).err).toContain('bad.jsonl: is not valid JSON');
  });

  it('SUB-13 fails, and says why, when what is in an archive belongs to nobody that there is', async () => {
    await letDie(1);
    const file = join(folder, 'gone.jsonl');
    await run(`archive --file ${file} --remove`);
    const [owner = ''] = /app_\w+/.exec(readFileSync(file, 'utf8')) ?? [];
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(owner, `app_${'0'.repeat(27)}`));
    expect(await run(`restore ${file}`)).toMatchObject({
      exitCode: 1,
      out: expect.stringMatching(/^0 restored, 2 belong to an application or source that is gone/),
    });
  });

  it('SUB-13 leaves on the server what was retried after its line was written and died again, and says so', async () => {
    await letDie(1);
    rig.receiver.answer(500, 'still broken');
    const [{ id }] = (await json('list')).data;
    const { deadLetters } = rig.resources;
    const { purge } = deadLetters;
    deadLetters.purge = async (letters) => {
      await run(`retry ${id}`);
      tried += 2;
      await rig.attempts(tried);
      return purge(letters);
    };
    const file = join(folder, 'retried.jsonl');
    const { out } = await run(`archive --file ${file} --remove`).finally(() => Object.assign(deadLetters, { purge }));
    expect(out).toBe(
      `2 written to ${file}, and 1 deleted from the server.\n` +
        `${id} stays: it died again, or was restored, since it was read. Its line in the file is out of date.\n`,
    );
    expect(await json(`restore ${file}`)).toMatchObject({ restored: 1, exists: 1 });
    expect((await json('list')).data).toHaveLength(2);
  });

  it('SUB-13 brings back what holds separators of lines, from a file that has them escaped or as they are', async () => {
    await rig.attempts(tried);
    const text = 'one\u2028two\u2029three';
    rig.receiver.answer(500, text);
    await rig.publish({ eventType: 'order.paid', payload: { text } });
    tried += 2;
    await rig.attempts(tried);
    const file = join(folder, 'separators.jsonl');
    const raw = join(folder, 'raw.jsonl');
    await run(`archive --file ${file} --remove`);
    const written = readFileSync(file, 'utf8');
    expect(written).not.toMatch(/[\u2028\u2029]/);
    // What ends a line elsewhere stands inside texts and between fields.
    const asIs = written.replaceAll('\\u2028', '\u2028').replaceAll('\\u2029', '\u2029').replaceAll('},"', '},\r"');
    expect(asIs).toMatch(/\u2028.*\u2029.*\r/s);
    writeFileSync(raw, asIs);
    for (const [index, each] of [file, raw].entries()) {
      expect(await json(`restore ${each}`)).toEqual({ restored: 1, exists: 0, missing: 0, conflict: 0 });
      const [{ id }] = (await json('list')).data;
      const shown = await json(`show ${id}`);
      expect(JSON.parse(shown.message.body)).toEqual({ text });
      expect(shown.attempts[0].response).toBe(text);
      await run(`archive --file ${join(folder, `separators-${index}.jsonl`)} --remove`);
    }
  });

  it('finds an endpoint by its uid with the application or the source that has it, and says so', async () => {
    const { id } = await rig.resources.sources.create({ name: 'Any', uid: 'any', provider: 'none' });
    await rig.resources.endpoints.create(id, { uid: 'shop', url: rig.receiver.url });
    const alone = await run('list --endpoint shop');
    expect(alone.err).toContain('if it is a uid, name its application or its source too');
    expect(await run('list --endpoint shop --source any')).toMatchObject({ exitCode: 0, err: '' });
    expect((await run('list --endpoint shp --source any')).err).toContain('the source has none of this id or uid');
    expect((await run('list --help')).out).toContain('by uid with --application or');
  });

  it('says in a sentence that there is no token, no server, or no right', async () => {
    const none = await runInMemory('dead-letters list', {});
    expect(none).toMatchObject({ exitCode: 2, err: expect.stringContaining('POSTHORN_ADMIN_TOKEN') });
    const nobody = await run('list --url http://127.0.0.1:9');
    expect(nobody).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('No server answers at http://127.0.0.1:9'),
    });
    expect((await run('list --token a-token-that-is-none')).err).toContain('Invalid token');
    expect((await run('list --application nobody')).err).toContain('There is no application "nobody"');
  });
});

describe('docs/dead-letters.md', { timeout: 30_000 }, () => {
  it('SUB-13 has commands that work as they stand, one after the other', async () => {
    await letDie(2);
    const lines = [...docs.matchAll(/```sh\n([\s\S]*?)```/g)]
      .flatMap(([, block = '']) => block.trim().split('\n'))
      .filter((line) => line.startsWith('npx posthorn dead-letters '));
    expect(lines.length).toBeGreaterThanOrEqual(10);
    for (const line of lines) {
      const { data } = await json('list');
      const ready = line
        .replace('npx posthorn dead-letters ', '')
        .replace('$GROUP', data.length > 0 ? await largestGroup() : '')
        .replace('$ID', data[0]?.id ?? '')
        .replaceAll('old.jsonl', join(folder, 'old.jsonl'));
      const ran = await run(ready);
      expect([line, ran.exitCode, ran.err.replaceAll(/^\d+( of \d+)?\n/gm, '')]).toEqual([line, 0, '']);
    }
  });

  it('PAY-09 has a program that compiles, and does what the commands do', async () => {
    await using own = await openDeliveryRig();
    await own.endpoint({ uid: 'ep' });
    for (const [n, said] of ['order 1 is broken', 'order 2 is broken', 'come back later'].entries()) {
      own.receiver.answer(said.startsWith('order') ? 500 : 503, said);
      await own.publish({ eventType: 'order.paid', payload: { n } });
      await own.attempts(2 * (n + 1));
    }
    own.receiver.answer(200);
    const [program = ''] = programsIn(docs);
    expect(compilerErrors([program])).toEqual([]);
    const said: unknown[][] = [];
    const { deadLetters } = own.resources;
    await runProgram(program, {
      createPosthorn: async () => ({ deadLetters }),
      console: { log: (...words: unknown[]) => said.push(words) },
    });
    expect(said.filter(([word]) => word === 'sent again:')).toEqual([
      ['sent again:', 2],
      ['sent again:', 1],
    ]);
    expect(said.slice(0, -2).map(([, , third]) => String(third))).toContain('come back later');
  });
});
