/** docs/policies.md: its policy works as it stands, its commands are run, its tables are what the code says. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, type TestApi } from '../../api/testing/test-api.ts';
import { parsePolicy } from '../../policy/parse-policy.ts';
import { POLICY_DEFAULTS } from '../../policy/policy-defaults.ts';
import { runInMemory } from '../testing/run-in-memory.ts';

const docs = readFileSync(fileURLToPath(new URL('../../../docs/policies.md', import.meta.url)), 'utf8');
const blocks = (language: string) =>
  [...docs.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text = '']) => text);
const rowsOf = (mark: string) =>
  (docs.split(`<!-- ${mark} -->\n`)[1]?.split(`<!-- /${mark} -->`)[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1),
    );
const unquoted = (cell = '') => cell.replaceAll('`', '');

let api: TestApi;
let url: string;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'posthorn-policies-'));
  writeFileSync(join(folder, 'mine.json'), blocks('json')[0] ?? '');
  api = await createTestApi();
  await api.resources.applications.create({ name: 'Trying out', uid: 'dev' });
  url = await api.server.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

describe('docs/policies.md', { timeout: 30_000 }, () => {
  it('has a policy that is one, and says what it says of it', () => {
    const policy = parsePolicy(JSON.parse(blocks('json')[0] ?? ''));
    expect(policy.windowMs).toBe(60 * 60 * 1000);
    expect(policy.schedule.kind === 'explicit' && policy.schedule.delaysMs.reduce((a, b) => a + b)).toBeLessThan(
      policy.windowMs,
    );
  });

  it('has commands that work as they stand, one after the other', async () => {
    const commands = blocks('sh').flatMap((block) => block.trim().split(/\n(?=\S)/));
    expect(commands).toHaveLength(6);
    for (const command of commands) {
      if (command.startsWith('npx posthorn ')) {
        const line = command.replace('npx posthorn ', '').replace('mine.json', join(folder, 'mine.json'));
        expect(await runInMemory(line)).toMatchObject({ exitCode: 0, err: '' });
        continue;
      }
      const script = command.replace('http://127.0.0.1:8420', url).replace('curl ', 'curl --silent --fail-with-body ');
      const env = { PATH: process.env.PATH, POSTHORN_ADMIN_TOKEN: api.token };
      const { stdout } = await promisify(execFile)('bash', ['-e', '-c', script], { cwd: folder, env });
      expect(JSON.parse(stdout)).toMatchObject({ createdAt: expect.any(String) });
    }
    expect((await api.resources.endpoints.get('dev', 'careful')).policy).toBe('mine');
    expect((await api.resources.endpoints.get('dev', 'paid-only')).eventTypes).toEqual(['invoice.paid']);
  });

  it('lists exactly the keys that there are, with their defaults', () => {
    const rows = rowsOf('keys');
    expect(rows.map(([key]) => unquoted(key))).toEqual(['extends', ...Object.keys(POLICY_DEFAULTS)]);
    for (const [key, shown] of rows.filter(([, cell]) => cell?.startsWith('`'))) {
      expect([key, JSON.parse(unquoted(shown))]).toEqual([
        key,
        POLICY_DEFAULTS[unquoted(key) as keyof typeof POLICY_DEFAULTS],
      ]);
    }
  });

  it('lists exactly the kinds of schedule and jitter, with their keys', () => {
    const kindsOf = (field: string) => {
      const refused = catchMessage(() => parsePolicy({ [field]: {} }));
      return [...refused.matchAll(/"(\w+)"/g)].map(([, kind]) => kind).filter((kind) => kind !== 'kind');
    };
    const rows = rowsOf('kinds');
    expect(rows.map(([kind]) => unquoted(kind))).toEqual([...kindsOf('schedule'), ...kindsOf('jitter')]);
    for (const [index, [kind, keys = '']] of rows.entries()) {
      const field = index < 2 ? 'schedule' : 'jitter';
      const given = keys === '' ? [] : unquoted(keys).split(', ');
      const values = given.map((key) => [key, key === 'delaysMs' ? [1] : 1]);
      const written = { kind: unquoted(kind), ...Object.fromEntries(values) };
      expect(parsePolicy({ [field]: written })).toMatchObject({ [field]: written });
    }
  });
});

function catchMessage(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return (error as Error).message;
  }
  return '';
}
