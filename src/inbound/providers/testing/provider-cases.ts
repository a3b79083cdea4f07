/** For each provider: settings with the old and the new secret, and what signs with either. */
import { generateKeyPairSync } from 'node:crypto';
import type { ProviderSettings, VerifyPorts } from '../provider.ts';
import { findProvider, PROVIDERS } from '../registry.ts';
import type { Signer } from './make-chain.ts';

export interface ProviderCase {
  readonly name: string;
  /** What to verify with: a list of live secrets each. */
  readonly old: ProviderSettings;
  readonly both: ProviderSettings;
  readonly other: ProviderSettings;
  readonly signOld: ProviderSettings;
  readonly signNew: ProviderSettings;
}

export const NOW = Date.parse('2026-11-16T12:00:00Z');
export const SAMPLE = { now: NOW, token: 'a1B2c3D4e5F6' };

const whsec = (letter: string) => `whsec_${Buffer.alloc(32, letter).toString('base64')}`;
const TOPIC = 'arn:aws:sns:us-east-1:210987654321:orders';

/** Most: one setting with a secret. */
function symmetric(name: string, setting: string, make: (letter: string) => string, fixed = {}): ProviderCase {
  const [a, b, c] = [make('a'), make('b'), make('c')];
  return {
    name,
    old: { ...fixed, [setting]: a },
    both: { ...fixed, [setting]: [b, a] },
    other: { ...fixed, [setting]: [c] },
    signOld: { ...fixed, [setting]: a },
    signNew: { ...fixed, [setting]: b },
  };
}

function asymmetric(name: string, pair: () => { publicKey: string; privateKey: string }): ProviderCase {
  const [a, b, c] = [pair(), pair(), pair()];
  return {
    name,
    old: { publicKey: a.publicKey },
    both: { publicKey: [b.publicKey, a.publicKey] },
    other: { publicKey: c.publicKey },
    signOld: a,
    signNew: b,
  };
}

function ecdsaPair() {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return {
    publicKey: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
    privateKey: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  };
}

function ed25519Pair() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  return {
    publicKey: Buffer.from(x, 'base64url').toString('hex'),
    privateKey: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  };
}

/** The providers whose key is a certificate: the webhook id or the topic takes the place of the secret. */
function certified(
  name: string,
  setting: string,
  values: readonly [string, string, string],
  signer: Signer,
): ProviderCase {
  const [a, b, c] = values;
  const { privateKey } = signer;
  return {
    name,
    old: { [setting]: a },
    both: { [setting]: [b, a] },
    other: { [setting]: c },
    signOld: { [setting]: a, privateKey },
    signNew: { [setting]: b, privateKey },
  };
}

export function providerCases(signer: Signer): readonly ProviderCase[] {
  const word = (letter: string) => `secret-${letter.repeat(24)}`;
  return [
    symmetric('adyen', 'hmacKey', (letter) => Buffer.alloc(32, letter).toString('hex')),
    certified('aws-sns', 'topicArn', [TOPIC, `${TOPIC}2`, `${TOPIC}3`], signer),
    asymmetric('discord', ed25519Pair),
    symmetric('github', 'secret', word),
    symmetric('gitlab', 'signingToken', whsec),
    symmetric('hubspot', 'clientSecret', word),
    symmetric('intercom', 'clientSecret', word),
    symmetric('linear', 'signingSecret', word),
    symmetric('mailgun', 'signingKey', word),
    symmetric('meta', 'appSecret', word),
    symmetric('paddle', 'secretKey', word),
    certified('paypal', 'webhookId', ['WH-A', 'WH-B', 'WH-C'], signer),
    asymmetric('sendgrid', ecdsaPair),
    symmetric('shopify', 'clientSecret', word),
    symmetric('slack', 'signingSecret', word),
    symmetric('square', 'signatureKey', word),
    symmetric('standard-webhooks', 'secret', whsec),
    symmetric('stripe', 'signingSecret', (letter) => `whsec_${letter.repeat(32)}`),
    symmetric('twilio', 'authToken', (letter) => letter.repeat(32)),
    symmetric('twilio', 'authToken', (letter) => letter.repeat(32), { url: 'https://shop.example.com/twilio?a=1' }),
    symmetric('twitch', 'secret', word),
    symmetric('typeform', 'secret', word),
    symmetric('zoom', 'secretToken', word),
    symmetric('generic-hmac', 'secret', word, { timestampHeader: 'X-Time' }),
    symmetric('basic', 'password', word, { username: 'user' }),
    symmetric('api-key', 'key', word),
  ];
}

/** So that a new provider cannot stay out of the table. */
export function namesWithoutCase(cases: readonly ProviderCase[]): readonly string[] {
  const covered = new Set(cases.map(({ name }) => findProvider(name).name));
  return PROVIDERS.map(({ name }) => name).filter((name) => !covered.has(name));
}

export function portsWith(pem: string, roots: readonly string[], now = NOW): VerifyPorts {
  return {
    now,
    trustedRoots: roots,
    fetchCertificate: async () => pem,
    confirmSubscription: async () => {},
  };
}
