import { describe, expect, it } from 'vitest';
import { runInMemory } from './testing/run-in-memory.ts';

describe('the command line', () => {
  it('teaches: every command has help with examples', async () => {
    const { out, exitCode } = await runInMemory('--help');
    expect(exitCode).toBe(0);
    for (const command of ['serve', 'dev', 'policy', 'migrate', 'doctor', 'config']) {
      expect(out).toContain(`\n  ${command}`);
      const help = await runInMemory(`${command} --help`);
      expect(help.exitCode).toBe(0);
      expect(help.out).toContain('Examples:\n  $ ');
    }
  });

  it.each(
    'serve,dev,sources,sources show,sources rotate-secret,sources rotate-token,trigger,listen,events,dead-letters,policy,migrate,doctor,config'.split(
      ',',
    ),
  )('%s --help breaks a line only where the next word has no room', async (command) => {
    const { out } = await runInMemory(`${command} --help`);
    const description = out.split('\n\n')[1]?.split('\n') ?? [];
    expect(description.join(' ').length).toBeGreaterThan(20);
    const broken = description.slice(1).filter((line, n) => {
      const [word = ''] = line.trim().split(' ');
      return `${description[n]} ${word}`.length <= 80;
    });
    expect(broken).toEqual([]);
  });

  it.each(['serve', 'dev', 'doctor'])('%s --help lists every setting', async (command) => {
    const { out } = await runInMemory(`${command} --help`);
    expect(out).toContain('POSTHORN_STORE = sqlite:./posthorn.db');
    expect(out).toContain('PAYMENT_REQUEST_WEBHOOK_RETRY_BUDGET');
  });

  it('prints its version', async () => {
    expect(await runInMemory('--version')).toMatchObject({
      exitCode: 0,
      out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  });

  it.each([
    ['serv', 'Did you mean serve?'],
    ['serve --prot 80', 'Did you mean --port?'],
    ['policy simulat quick', 'Did you mean simulate?'],
    ['policy simulate quick --outtage 1h', 'Did you mean --outage?'],
    ['policy show quik', 'Did you mean quick?'],
    ['policy simulate quick --failure time_out', 'Did you mean timeout?'],
  ])('ALL-06 "%s" is answered with: %s', async (line, hint) => {
    const { exitCode, out, err } = await runInMemory(line);
    expect(err).toContain(hint);
    expect(out).toBe('');
    expect(exitCode).toBe(2);
  });

  it('ALL-06 a wrong setting is one message without a stack, and exit code 2', async () => {
    const { exitCode, err } = await runInMemory('config', { POSTHORN_PROT: '1', POSTHORN_PORT: 'x' });
    expect(exitCode).toBe(2);
    expect(err).toMatch(/^posthorn: The configuration is wrong in 2 places:\n {2}- .*\n {2}- .*\n$/);
  });

  it('ALL-06 a wrong flag is checked by the same table', async () => {
    const { exitCode, err } = await runInMemory('serve --port 70000');
    expect(exitCode).toBe(2);
    expect(err).toBe('posthorn: The configuration is wrong: port="70000" must be a whole number, from 0 to 65535.\n');
  });

  it('shows the stack to who asks for it', async () => {
    const { err } = await runInMemory('policy show nothing', { POSTHORN_LOG_LEVEL: 'debug' });
    expect(err).toContain('policy.');
    expect((await runInMemory('policy show nothing')).err).not.toContain('    at ');
  });
});

describe('posthorn config', () => {
  it('prints every setting with its value, and no secret', async () => {
    const { out, exitCode } = await runInMemory('config', {
      POSTHORN_PORT: '9000',
      POSTHORN_SECRET_KEY: 'k'.repeat(16),
    });
    expect(exitCode).toBe(0);
    expect(out).toContain('POSTHORN_PORT = 9000');
    expect(out).not.toContain('kkkk');
  });
});
