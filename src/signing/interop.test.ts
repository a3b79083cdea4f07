/** The other side is not ours: the reference library and the Svix library verify what we sign, and the reverse. */
import { randomBytes } from 'node:crypto';
import * as standard from 'standardwebhooks';
import * as svix from 'svix';
import { describe, expect, it } from 'vitest';
import { liveSecrets, rotate } from './rotation.ts';
import { generateSecret } from './secret.ts';
import { signatureHeaders } from './signature-headers.ts';
import { createSigner } from './signer.ts';
import { verify } from './verify.ts';

const LIBRARIES = [
  { name: 'standardwebhooks', Webhook: standard.Webhook },
  { name: 'svix', Webhook: svix.Webhook },
];
// These libraries read the system's clock themselves.
const NOW_S = Math.floor(Date.now() / 1000);
const BODIES = ['{"test": 2432232314}', '{"name":"Zoë 漢字 🎺","n":1e400}', '[]', ' { "spaced" : true }\n'];

function attemptHeaders(secrets: readonly string[], body: string, svixNames = false): Record<string, string> {
  const attempt = { messageId: 'msg_1', timestampS: NOW_S, payload: Buffer.from(body), attemptNumber: 1 };
  const flat = signatureHeaders(createSigner(secrets), attempt, { svixNames });
  const headers: Record<string, string> = {};
  for (let i = 0; i < flat.length; i += 2) headers[flat[i] ?? ''] = flat[i + 1] ?? '';
  return headers;
}

describe.each(LIBRARIES)('$name', ({ name, Webhook }) => {
  it('verifies what we sign', () => {
    const secret = generateSecret('hmac', randomBytes);
    for (const body of BODIES) {
      const headers = attemptHeaders([secret], body, name === 'svix');
      expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
      expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow('No matching signature');
    }
  });

  it('signs what we verify', () => {
    const secret = generateSecret('hmac', randomBytes);
    const family = name === 'svix' ? 'svix' : 'webhook';
    for (const body of BODIES) {
      const headers = {
        [`${family}-id`]: 'msg_1',
        [`${family}-timestamp`]: String(NOW_S),
        [`${family}-signature`]: new Webhook(secret).sign('msg_1', new Date(NOW_S * 1000), body),
      };
      const options = { nowS: NOW_S };
      expect(verify([secret], headers, Buffer.from(body), options)).toMatchObject({ ok: true, messageId: 'msg_1' });
      expect(verify([secret], headers, Buffer.from(`${body} `), options).ok).toBe(false);
    }
  });

  it('verifies with the old and with the new secret while both are live, and only the new one afterwards', () => {
    const [oldKey, newKey] = [generateSecret('hmac', randomBytes), generateSecret('hmac', randomBytes)];
    const now = NOW_S * 1000;
    const secrets = rotate([{ key: oldKey, createdAt: 0 }], newKey, { now, graceMs: 1000 });
    const headersAt = (time: number) =>
      attemptHeaders(
        liveSecrets(secrets, time).map(({ key }) => key),
        '{}',
      );

    expect(new Webhook(oldKey).verify('{}', headersAt(now))).toEqual({});
    expect(new Webhook(newKey).verify('{}', headersAt(now))).toEqual({});
    expect(() => new Webhook(oldKey).verify('{}', headersAt(now + 1000))).toThrow('No matching signature');
    expect(new Webhook(newKey).verify('{}', headersAt(now + 1000))).toEqual({});
  });

  it('finds its signature in a list that also has an ed25519 one', () => {
    const secret = generateSecret('hmac', randomBytes);
    const headers = attemptHeaders([generateSecret('ed25519', randomBytes), secret], '{}');
    expect(new Webhook(secret).verify('{}', headers)).toEqual({});
  });
});
