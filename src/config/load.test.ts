import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPosthornError } from '../errors.ts';
import { describeSettings } from './describe-settings.ts';
import { type Environment, loadConfig, type Overrides } from './load.ts';
import { SETTINGS } from './schema.ts';

function refusal(env: Environment, overrides?: Overrides): string {
  try {
    loadConfig(overrides === undefined ? { env } : { env, overrides });
  } catch (error) {
    if (isPosthornError(error, 'config_invalid')) return error.message;
    throw error;
  }
  throw new Error('expected the configuration to be refused');
}

describe('loadConfig', () => {
  it('gives every documented default when nothing is set', () => {
    expect(loadConfig({ env: {} })).toEqual({
      host: '127.0.0.1',
      port: 8420,
      store: 'sqlite:./posthorn.db',
      role: 'all',
      dispatch: 'store',
      redisUrl: 'redis://127.0.0.1:6379',
      redisPrefix: '{posthorn}',
      adminToken: undefined,
      secretKey: undefined,
      allowNetworks: [],
      defaultPolicy: 'multi-day',
      svixNames: false,
      logLevel: 'info',
      retryJitterBps: 0,
      retryBudget: 0,
      maxInFlight: 1024,
      endpointMaxInFlight: 64,
      leaseMs: 10_000,
      postgresPool: 10,
      bodyLimitBytes: 2_097_152,
      retention: undefined,
      deadLetterKeep: undefined,
      deadLetterArchive: undefined,
    });
  });

  it('reads every variable', () => {
    const config = loadConfig({
      env: {
        POSTHORN_HOST: '::1',
        POSTHORN_PORT: '0',
        POSTHORN_PUBLIC_URL: 'https://hooks.example.com/posthorn/',
        POSTHORN_STORE: 'sqlite::memory:',
        POSTHORN_ROLE: 'worker',
        POSTHORN_DISPATCH: 'bullmq',
        POSTHORN_REDIS_URL: 'rediss://:secret@redis:6380/2',
        POSTHORN_REDIS_PREFIX: '{staging}-posthorn',
        POSTHORN_ADMIN_TOKEN: 'admin-token-0123456789',
        POSTHORN_SECRET_KEY: 'a key with spaces and ümlauts',
        POSTHORN_ALLOW_NETWORKS: '127.0.0.0/8, ::1/128,10.1.2.3',
        POSTHORN_DEFAULT_POLICY: 'quick',
        POSTHORN_SVIX_NAMES: 'true',
        POSTHORN_LOG_LEVEL: 'silent',
        POSTHORN_RETRY_JITTER_BPS: '10000',
        POSTHORN_RETRY_BUDGET: '3',
        POSTHORN_MAX_IN_FLIGHT: '10',
        POSTHORN_ENDPOINT_MAX_IN_FLIGHT: '2',
        POSTHORN_LEASE_MS: '2000',
        POSTHORN_POSTGRES_POOL: '4',
        POSTHORN_BODY_LIMIT_BYTES: '2048',
        POSTHORN_RETENTION: '30d',
        POSTHORN_DEAD_LETTER_KEEP: '90d',
        POSTHORN_DEAD_LETTER_ARCHIVE: '/var/lib/posthorn/archive',
        POSTHORN_URL: 'http://127.0.0.1:1',
        HOME: '/home/someone',
      },
    });
    expect(config).toEqual({
      host: '::1',
      port: 0,
      publicUrl: 'https://hooks.example.com/posthorn',
      store: 'sqlite::memory:',
      role: 'worker',
      dispatch: 'bullmq',
      redisUrl: 'rediss://:secret@redis:6380/2',
      redisPrefix: '{staging}-posthorn',
      adminToken: 'admin-token-0123456789',
      secretKey: 'a key with spaces and ümlauts',
      allowNetworks: ['127.0.0.0/8', '::1/128', '10.1.2.3'],
      defaultPolicy: 'quick',
      svixNames: true,
      logLevel: 'silent',
      retryJitterBps: 10_000,
      retryBudget: 3,
      maxInFlight: 10,
      endpointMaxInFlight: 2,
      leaseMs: 2000,
      postgresPool: 4,
      bodyLimitBytes: 2048,
      retention: '30d',
      deadLetterKeep: '90d',
      deadLetterArchive: '/var/lib/posthorn/archive',
    });
  });

  it('takes an empty or blank variable as not set', () => {
    expect(loadConfig({ env: { POSTHORN_PORT: '', POSTHORN_ADMIN_TOKEN: '  ' } })).toEqual(loadConfig({}));
  });

  it('is frozen all the way down', () => {
    const config = loadConfig({ env: { POSTHORN_ALLOW_NETWORKS: '10.0.0.0/8' } });
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.allowNetworks)).toBe(true);
    expect(Object.isFrozen(loadConfig({}).allowNetworks)).toBe(true);
  });

  it('lets overrides win, as values or as text, through the same checks', () => {
    const env = { POSTHORN_PORT: '1', POSTHORN_ALLOW_NETWORKS: '10.0.0.0/8' };
    expect(loadConfig({ env, overrides: { port: '9000', allowNetworks: [] } })).toMatchObject({
      port: 9000,
      allowNetworks: [],
    });
    expect(loadConfig({ env, overrides: { port: undefined } }).port).toBe(1);
    expect(refusal(env, { port: 70_000 })).toBe(
      'The configuration is wrong: port="70000" must be a whole number, from 0 to 65535.',
    );
  });
});

describe('ALL-06 a wrong setting stops the start and says what is allowed', () => {
  it.each([
    ['POSTHORN_HOST', 'http://127.0.0.1', 'must be a host name or an IP address'],
    ['POSTHORN_HOST', 'localhost:80', 'must be a host name or an IP address'],
    ['POSTHORN_PORT', '65536', 'from 0 to 65535'],
    ['POSTHORN_PORT', '-1', 'from 0 to 65535'],
    ['POSTHORN_PORT', '80a', 'from 0 to 65535'],
    ['POSTHORN_PORT', '1e3', 'from 0 to 65535'],
    ['POSTHORN_PUBLIC_URL', 'hooks.example.com', 'such as https://hooks.example.com'],
    ['POSTHORN_PUBLIC_URL', 'https://hooks.example.com/?a=1', 'without a query'],
    ['POSTHORN_STORE', 'mysql://localhost/posthorn', 'this version knows sqlite: and postgres: only'],
    ['POSTHORN_STORE', 'posthorn.db', 'for example sqlite:posthorn.db'],
    ['POSTHORN_STORE', 'sqlite:', 'must name a file'],
    ['POSTHORN_STORE', 'sqlite:/var/lib/', 'must name a file'],
    ['POSTHORN_DISPATCH', 'bull', 'must be one of store, bullmq'],
    ['POSTHORN_REDIS_PREFIX', 'posthorn', 'with one part in braces'],
    ['POSTHORN_REDIS_PREFIX', '{a:b}', 'with one part in braces'],
    ['POSTHORN_ALLOW_NETWORKS', '10.0.0.0/33', '"10.0.0.0/33" is none'],
    ['POSTHORN_ALLOW_NETWORKS', '10/8', '"10/8" is none'],
    ['POSTHORN_LEASE_MS', '999', 'from 1000 to 600000'],
    ['POSTHORN_POSTGRES_POOL', '0', 'from 1 to 1000'],
    ['POSTHORN_RETENTION', '30', 'hours, days or weeks'],
    ['POSTHORN_DEAD_LETTER_KEEP', '90', 'hours, days or weeks'],
    ['POSTHORN_DEAD_LETTER_KEEP', '1h', 'at least a day'],
    ['POSTHORN_ALLOW_NETWORKS', '127.0.0.0/8,,::1', '"" is none'],
    ['POSTHORN_ALLOW_NETWORKS', 'localhost', 'separated by commas'],
    ['POSTHORN_DEFAULT_POLICY', 'multiday', 'did you mean multi-day?'],
    ['POSTHORN_LOG_LEVEL', 'verbose', 'must be one of fatal, error, warn, info, debug, trace, silent'],
    ['POSTHORN_SVIX_NAMES', 'yes', 'must be true or false'],
    ['POSTHORN_MAX_IN_FLIGHT', '0', 'from 1 to 65535'],
    ['POSTHORN_ENDPOINT_MAX_IN_FLIGHT', '1.5', 'from 1 to 65535'],
    ['POSTHORN_BODY_LIMIT_BYTES', '10MB', 'from 1024 to 67108864'],
  ])('%s=%s', (name, value, allowed) => {
    const message = refusal({ [name]: value });
    expect(message).toContain(`${name}=${JSON.stringify(value)} `);
    expect(message).toContain(allowed);
  });

  it.each([
    ['POSTHORN_ADMIN_TOKEN', 'too-short', 'at least 16 characters'],
    ['POSTHORN_ADMIN_TOKEN', 'has a space in it somewhere', 'travels in a header'],
    ['POSTHORN_SECRET_KEY', 'too-short', 'at least 16 characters'],
    ['POSTHORN_REDIS_URL', 'http://:hunter2@redis', 'must be redis://'],
  ])('%s, without showing the secret %s', (name, value, allowed) => {
    const message = refusal({ [name]: value });
    expect(message).toContain(`${name} (${value.length} characters) `);
    expect(message).toContain(allowed);
    expect(message).not.toContain(value);
  });

  it('names everything that is wrong at once', () => {
    expect(refusal({ POSTHORN_PORT: 'x', POSTHORN_LOG_LEVEL: 'loud', POSTHORN_PROT: '80' })).toBe(
      [
        'The configuration is wrong in 3 places:',
        '  - POSTHORN_PROT is not a setting; did you mean POSTHORN_PORT?',
        '  - POSTHORN_PORT="x" must be a whole number, from 0 to 65535',
        '  - POSTHORN_LOG_LEVEL="loud" must be one of fatal, error, warn, info, debug, trace, silent',
      ].join('\n'),
    );
  });

  it('refuses a POSTHORN_ variable that nobody knows, even when nothing is near', () => {
    expect(refusal({ POSTHORN_CHEESE_BOARD: '1' })).toContain('POSTHORN_CHEESE_BOARD is not a setting');
  });

  it('refuses an override that nobody knows', () => {
    expect(refusal({}, { prot: 80 } as Overrides)).toBe(
      'The configuration is wrong: prot is not a setting; did you mean port?',
    );
  });

  it('never throws anything else, whatever the text', () => {
    const names = fc.constantFrom(...Object.values(SETTINGS).map(({ env }) => env));
    fc.assert(
      fc.property(fc.dictionary(names, fc.string()), (env) => {
        try {
          loadConfig({ env });
        } catch (error) {
          expect(isPosthornError(error, 'config_invalid')).toBe(true);
        }
      }),
    );
  });
});

describe('BUD-06 the document names its own variables', () => {
  const JITTER = 'PAYMENT_REQUEST_WEBHOOK_RETRY_JITTER_BPS';
  const BUDGET = 'PAYMENT_REQUEST_WEBHOOK_RETRY_BUDGET';

  it('BUD-06 they are read beside the names of Posthorn', () => {
    expect(loadConfig({ env: { [JITTER]: '2500', [BUDGET]: '4' } })).toMatchObject({
      retryJitterBps: 2500,
      retryBudget: 4,
    });
    expect(loadConfig({ env: { POSTHORN_RETRY_JITTER_BPS: '2500', POSTHORN_RETRY_BUDGET: '4' } })).toMatchObject({
      retryJitterBps: 2500,
      retryBudget: 4,
    });
  });

  it('BUD-06 both bounds of the jitter and a budget of 0 are allowed', () => {
    expect(loadConfig({ env: { [JITTER]: '0', [BUDGET]: '0' } })).toMatchObject({ retryJitterBps: 0, retryBudget: 0 });
    expect(loadConfig({ env: { [JITTER]: '10000' } }).retryJitterBps).toBe(10_000);
  });

  it.each([
    [JITTER, '10001', 'must be a whole number, from 0 to 10000'],
    [JITTER, '-1', 'must be a whole number, from 0 to 10000'],
    [JITTER, '12.5', 'must be a whole number, from 0 to 10000'],
    [JITTER, 'ten', 'must be a whole number, from 0 to 10000'],
    [BUDGET, '-1', 'must be a whole number, 0 or more'],
    [BUDGET, 'all', 'must be a whole number, 0 or more'],
    ['POSTHORN_RETRY_JITTER_BPS', '10001', 'must be a whole number, from 0 to 10000'],
    ['POSTHORN_RETRY_BUDGET', '-1', 'must be a whole number, 0 or more'],
  ])('BUD-06 %s=%s stops the start', (name, value, allowed) => {
    expect(refusal({ [name]: value })).toBe(`The configuration is wrong: ${name}="${value}" ${allowed}.`);
  });

  it('BUD-06 both names with the same value are fine, with different values an error', () => {
    expect(loadConfig({ env: { POSTHORN_RETRY_BUDGET: '3', [BUDGET]: '3' } }).retryBudget).toBe(3);
    expect(refusal({ POSTHORN_RETRY_BUDGET: '3', [BUDGET]: '4' })).toBe(
      `The configuration is wrong: POSTHORN_RETRY_BUDGET="3" and ${BUDGET}="4" are the same setting with different values: set one of them.`,
    );
  });
});

describe('describeSettings', () => {
  it('shows every variable with its default and its line', () => {
    const text = describeSettings();
    for (const { env, doc } of Object.values(SETTINGS)) {
      expect(text).toContain(`  ${env} = `);
      expect(text).toContain(doc);
    }
    expect(text).toContain('PAYMENT_REQUEST_WEBHOOK_RETRY_BUDGET');
  });

  it('shows what is set, and never a secret', () => {
    const text = describeSettings(loadConfig({ env: { POSTHORN_PORT: '9000', POSTHORN_ADMIN_TOKEN: 'x'.repeat(20) } }));
    expect(text).toContain('POSTHORN_PORT = 9000');
    expect(text).toContain('POSTHORN_ADMIN_TOKEN = (set, not shown)');
    expect(text).not.toContain('xxxx');
  });
});
