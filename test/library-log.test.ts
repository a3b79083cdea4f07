/** What an embedded Posthorn says by itself, in a process of its own: stderr belongs to nobody else there. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const library = new URL('../dist/index.js', import.meta.url).href;

async function stderrOf(options: string): Promise<string> {
  const program = `
    import { createPosthorn, PermanentError } from ${JSON.stringify(library)};
    const posthorn = await createPosthorn({ store: 'sqlite::memory:', ${options} });
    const stripe = posthorn.source('stripe', { secret: 'whsec_test' });
    const hooks = posthorn.source('hooks', { provider: 'none' });
    const dead = new Promise((done) => posthorn.on((event) => event.kind === 'attempt' && done()));
    hooks.on('*', () => { throw new PermanentError('no such customer'); });
    await Promise.all([stripe.ready(), hooks.ready()]);
    const post = (source, headers) => source.receive(new Request('http://127.0.0.1/', { method: 'POST', body: '{}', headers }));
    if ((await post(stripe, { 'stripe-signature': 't=1,v1=00' })).status !== 401) throw new Error('not refused');
    await post(hooks, {});
    await dead;
    await posthorn.close();
  `;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  expect(stdout).toBe('');
  return stderr;
}

const messages = (stderr: string) =>
  stderr
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { msg: string }).msg);

it('an embedded Posthorn without a logger says on stderr what it refused and what failed, and nothing else', async () => {
  const stderr = await stderrOf('');
  expect(messages(stderr)).toEqual(
    expect.arrayContaining(['webhook refused: verification_failed', 'webhook delivery failed']),
  );
  expect(stderr).toContain('no such customer');
  expect(messages(stderr)).not.toContain('webhook received');
});

it('an embedded Posthorn logs from the level that it is given', async () => {
  expect(messages(await stderrOf("logLevel: 'info'"))).toContain('webhook received');
});

it('an embedded Posthorn is silent with `logger: false`', async () => {
  expect(await stderrOf('logger: false')).toBe('');
});
