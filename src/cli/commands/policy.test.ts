import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { PRESET_NAMES, parsePolicy, presets } from '../../policy/index.ts';
import { runInMemory } from '../testing/run-in-memory.ts';

const folder = mkdtempSync(join(tmpdir(), 'posthorn-policy-'));
afterAll(() => rmSync(folder, { recursive: true }));

function policyFile(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe('policy list', () => {
  it('shows every preset with its attempts and how long it lasts', async () => {
    const { out } = await runInMemory('policy list');
    for (const name of PRESET_NAMES) expect(out).toContain(presets[name].description);
    expect(out).toMatch(/^payments-inbound +4 +21 min +/m);
    expect(out).toMatch(/^multi-day +10 +3 d 4 h +/m);
  });

  it('BUD-06 shows the outbox preset as it is configured', async () => {
    const { out } = await runInMemory('policy list', { PAYMENT_REQUEST_WEBHOOK_RETRY_BUDGET: '2' });
    expect(out).toMatch(/^outbox +3 +15 s +/m);
  });

  it('prints JSON on request', async () => {
    const list = JSON.parse((await runInMemory('policy list --json')).out);
    expect(list).toHaveLength(PRESET_NAMES.length);
    expect(list[0]).toMatchObject({ name: 'payments-inbound', attempts: 4, lastsMs: 1_260_000 });
  });
});

describe('policy show', () => {
  it('says in words what a preset does', async () => {
    expect((await runInMemory('policy show public-api')).out).toBe(
      `public-api: ${presets['public-api'].description}

  attempts        6 at most
  waits           5 s, 25 s, 2 min 5 s, 10 min, 52 min
  jitter          up to +10 %
  retry budget    none
  time limits     5 s to connect, 10 s in all
  retry           429, 5xx
  reject          4xx, malformed_response
  otherwise       2xx is delivered, 410 gives the endpoint up, everything else is retried
  redirects       a 3xx counts as delivered
  Retry-After     obeyed up to 1 h
  longest wait    1 h
  window          none
  when exhausted  dead letter; the endpoint is failed and waits for a person
`,
    );
  });

  it.each(PRESET_NAMES)('prints %s as JSON that is a valid policy', async (name) => {
    const { out } = await runInMemory(`policy show ${name} --json`);
    expect(parsePolicy(JSON.parse(out))).toEqual(presets[name].policy);
    expect((await runInMemory(`policy show ${name}`)).exitCode).toBe(0);
  });
});

describe('policy simulate', () => {
  it('shows the timeline as a table and a plot', async () => {
    const { out, exitCode } = await runInMemory('policy simulate public-api --outage 40m');
    expect(exitCode).toBe(0);
    expect(out).toBe(
      `public-api: endpoint down for 40 min: delivered at attempt 6, 68 min late

  attempt  at            after a wait of  outcome    because
  1        0                              failed     timeout: retry 1 of 5 in 5.3 s
  2        + 5.3 s       5.3 s            failed     timeout: retry 2 of 5 in 26 s
  3        + 32 s        26 s             failed     timeout: retry 3 of 5 in 2 min 11 s
  4        + 2 min 43 s  2 min 11 s       failed     timeout: retry 4 of 5 in 11 min
  5        + 14 min      11 min           failed     timeout: retry 5 of 5 in 55 min
  6        + 68 min      55 min           delivered  HTTP 200: delivered

  endpoint |####################################........................|  # down  . up
  attempts |3 x        x                                               O|  x failed  O delivered  D dead  2-9 that many
           0                                                      68 min
`,
    );
  });

  it('PAY-02 shows when a delivery would die, however long the outage', async () => {
    const { out } = await runInMemory('policy simulate payments-inbound --outage 365d --failure 503');
    expect(out).toContain('dead-lettered after attempt 4, 21 min');
    expect(out).toMatch(/^ {2}4 .*dead .*attempts exhausted \(4 of 4\)/m);
  });

  it('shows a healthy endpoint, and one that rejects', async () => {
    expect((await runInMemory('policy simulate quick --outage 0s')).out).toContain('delivered at attempt 1, at once');
    expect((await runInMemory('policy simulate quick --failure 404')).out).toContain('dead-lettered after attempt 1');
  });

  it('draws the same jitter from the same seed', async () => {
    const run = async (seed: number) => (await runInMemory(`policy simulate quick --outage 1h --seed ${seed}`)).out;
    expect(await run(7)).toBe(await run(7));
    expect(await run(7)).not.toBe(await run(8));
  });

  it('reads a policy of your own from a file', async () => {
    const path = policyFile(
      'mine.json',
      '{"schedule":{"kind":"explicit","delaysMs":[60000]},"jitter":{"kind":"none"}}',
    );
    const { out } = await runInMemory(['policy', 'simulate', '--file', path, '--outage', '30s', '--json']);
    expect(JSON.parse(out)).toMatchObject({ delivered: true, lateMs: 60_000, outageMs: 30_000 });
  });

  it.each([
    ['not JSON', '{"schedule":', 'Cannot read a policy from'],
    ['an unknown key', '{"schedul":{}}', 'did you mean "schedule"?'],
    ['a value out of range', '{"retryBudget":-1}', 'retryBudget'],
  ])('ALL-06 a file with %s is refused', async (_, text, message) => {
    const { exitCode, err } = await runInMemory(['policy', 'simulate', '--file', policyFile('bad.json', text)]);
    expect(err).toContain(message);
    expect(exitCode).toBe(2);
  });

  it.each([
    ['{"a":1}', ': unknown key "a"'],
    ['{"timeouts":{"b":1}}', ': timeouts: unknown key "b"'],
    ['{"retryBudget":-1}', ': retryBudget: must be from 0 to'],
    ['[]', ': must be an object with'],
  ])('ALL-06 %s in a file is told with the file and the place', async (text, message) => {
    const path = policyFile('bad.json', text);
    const { err } = await runInMemory(['policy', 'simulate', '--file', path]);
    expect(err).toContain(`posthorn: ${path}${message}`);
  });

  it('shows its default outage as it would be written', async () => {
    expect((await runInMemory('policy simulate --help')).out).toMatch(/--outage .*\(default:\s+1h\)/s);
  });

  it.each([
    ['policy simulate', 'name a preset or give --file'],
    ['policy simulate quick --file x.json', 'one of the two'],
    ['policy simulate --file does-not-exist.json', 'does-not-exist.json'],
    ['policy simulate quick --outage 40', '40m'],
    ['policy simulate quick --failure 999', 'status from 100 to 599'],
    ['policy simulate quick --seed x', 'whole number'],
  ])('ALL-06 %s is refused', async (line, message) => {
    const { exitCode, err } = await runInMemory(line);
    expect(err).toContain(message);
    expect(exitCode).toBe(2);
  });
});
