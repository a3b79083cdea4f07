/** What holds for every provider, on one table of all of them. */
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { isPosthornError } from '../../errors.ts';
import type { InboundRequest, ProviderSettings } from './provider.ts';
import { findProvider, PROVIDERS } from './registry.ts';
import { makeAuthority } from './testing/make-chain.ts';
import { NOW, namesWithoutCase, portsWith, providerCases, SAMPLE } from './testing/provider-cases.ts';

const authority = makeAuthority();
afterAll(() => authority.close());
const signer = authority.issue('paypal', { commonName: 'messageverificationcerts.paypal.com' });
const CASES = providerCases(signer);

const START = Date.now();
/** The certificates are valid from the real now on. */
const nowFor = (name: string) => (name === 'paypal' || name === 'aws-sns' ? START + 3_600_000 : NOW);
/** Whoever has the key may send any body with it. */
const isSentAsItIs = (name: string) => name === 'basic' || name === 'api-key';
const isInvalid = (error: unknown) => isPosthornError(error, 'validation');

function verify(name: string, settings: ProviderSettings, request: InboundRequest, now = nowFor(name)) {
  return findProvider(name)
    .prepare(settings)
    .verify(request, portsWith(signer.pem, [authority.root], now));
}

function sampleOf(name: string, type: string): InboundRequest {
  return findProvider(name).sample(type, { ...SAMPLE, now: nowFor(name) });
}

function signed(
  name: string,
  signWith: ProviderSettings,
  type = findProvider(name).sampleTypes[0] ?? '',
): InboundRequest {
  return findProvider(name).sign(sampleOf(name, type), signWith, nowFor(name));
}

/** The request with each of its headers, and each value in its body, in turn replaced by a word. */
function withWord(request: InboundRequest, word: string): readonly InboundRequest[] {
  const bodies = [...bodiesWith(request.body.toString(), word)].map((body) => ({
    ...request,
    body: Buffer.from(body),
  }));
  const headers = Object.keys(request.headers).map((header) => ({ ...request.headers, [header]: word }));
  return [...bodies, ...headers.map((each) => ({ ...request, headers: each }))];
}

function* bodiesWith(text: string, word: string): Generator<string> {
  if (!/^[[{]/.test(text)) {
    const names = [...new URLSearchParams(text).keys()];
    for (const name of names) {
      const form = new URLSearchParams(text);
      form.set(name, word);
      yield form.toString();
    }
    return;
  }
  const replaced = (place: number) => {
    let seen = 0;
    // Everything is somebody's value, but for the whole.
    const body = JSON.stringify(JSON.parse(text), (key, value) => (key !== '' && seen++ === place ? word : value));
    return { body, seen };
  };
  const { seen: places } = replaced(-1);
  for (let place = 0; place < places; place++) yield replaced(place).body;
}

it('ALL-06 says how a number is written, unless it is a secret', () => {
  const prepare = (settings: object) => () => findProvider('stripe').prepare(settings as ProviderSettings);
  expect(prepare({ signingSecret: 's', toleranceSeconds: 300 })).toThrow(
    'settings.toleranceSeconds: must be a string: write "300"',
  );
  expect(prepare({ signingSecret: 4711 })).toThrow('settings.signingSecret: must be a string or a list of strings');
});

it('covers every provider but the one that verifies nothing', () => {
  expect(namesWithoutCase(CASES)).toEqual(['none']);
});

describe.each(CASES)('$name', ({ name, old, both, other, signOld, signNew }) => {
  const provider = findProvider(name);

  it('verifies each of its own samples and finds their type, again and again', async () => {
    const prepared = provider.prepare(old);
    for (const type of provider.sampleTypes) {
      const request = signed(name, signOld, type);
      const ports = portsWith(signer.pem, [authority.root], nowFor(name));
      for (let i = 0; i < 2; i++) expect(await prepared.verify(request, ports)).toEqual({ kind: 'verified' });
      expect(prepared.eventOf(request).type).toBe(type);
      expect(prepared.eventOf(request)).toEqual(prepared.eventOf(request));
    }
  });

  it('takes the old and the new secret while both are live, and no other', async () => {
    expect(await verify(name, both, signed(name, signOld))).toEqual({ kind: 'verified' });
    expect(await verify(name, both, signed(name, signNew))).toEqual({ kind: 'verified' });
    expect(await verify(name, other, signed(name, signOld))).toMatchObject({ kind: 'refused' });
  });

  it('refuses a request with no signature at all, with a reason of one line that holds no secret', async () => {
    const verdict = await verify(name, old, {
      method: 'POST',
      url: 'https://example.com/',
      headers: {},
      body: Buffer.from('{}'),
    });
    expect(verdict.kind).toBe('refused');
    const reason = verdict.kind === 'refused' ? verdict.reason : '';
    expect(reason).toMatch(/^[^\n]{5,120}$/);
    for (const secret of Object.values(signOld).flat()) expect(reason).not.toContain(secret);
  });

  it('refuses when any header that signing added is missing, empty, doubled, cut or of other characters', async () => {
    const before = sampleOf(name, provider.sampleTypes[0] ?? '').headers;
    const request = signed(name, signOld);
    const added = Object.keys(request.headers).filter((header) => before[header] !== request.headers[header]);
    for (const header of added) {
      const value = request.headers[header] ?? '';
      const spoiled: (string | undefined)[] = [undefined, '', 'é✓', 'NaN', `${value}\u0000`, 'x'.repeat(100_000)];
      // Where the certificate is said to be is not signed, and has tests of its own.
      if (header !== 'paypal-cert-url') spoiled.push(value.slice(0, -2), `${value}0`);
      // Standard Webhooks sends a list of signatures, which survives being joined to itself.
      if (header !== 'webhook-signature') spoiled.push(`${value}, ${value}`);
      for (const change of spoiled) {
        const headers: Record<string, string> = { ...request.headers };
        if (change === undefined) delete headers[header];
        else headers[header] = change;
        expect(await verify(name, old, { ...request, headers }), `${header}: ${change}`).toMatchObject({
          kind: 'refused',
        });
      }
    }
  });

  it('refuses an empty list of secrets, an empty secret and a setting that it does not know, when it is prepared', () => {
    for (const setting of Object.keys(old)) {
      expect(() => provider.prepare({ ...old, [setting]: [] })).toThrow(expect.toSatisfy(isInvalid));
      expect(() => provider.prepare({ ...old, [setting]: '' })).toThrow(expect.toSatisfy(isInvalid));
      expect(() => provider.prepare({ ...old, [`${setting}x`]: 'a' })).toThrow(`did you mean ${setting}?`);
    }
    expect(() => provider.prepare({})).toThrow(expect.toSatisfy(isInvalid));
  });

  it('parses no large body that nobody has signed', async () => {
    const request = signed(name, signOld);
    const body = Buffer.from(`{"a":${'['.repeat(600 * 1024)}`);
    using parse = vi.spyOn(JSON, 'parse');
    const kind = isSentAsItIs(name) ? 'verified' : 'refused';
    expect(await verify(name, old, { ...request, body })).toMatchObject({ kind });
    expect(parse.mock.calls.filter(([text]) => text.length > 100_000)).toEqual([]);
  });

  it('never throws for what a stranger sends', async () => {
    const { headers, body, url } = signed(name, signOld);
    const names = fc.constantFrom(...Object.keys(headers), 'x-other');
    const values = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...Object.values(headers)), fc.string());
    const bodies = fc.oneof(
      fc.uint8Array(),
      fc.json().map((text) => Buffer.from(text)),
      fc.constant(body),
      fc.subarray([...body]).map((bytes) => Buffer.from(bytes)),
    );
    const prepared = provider.prepare(old);
    const ports = portsWith(signer.pem, [authority.root], nowFor(name));
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(names, values),
        bodies,
        fc.oneof(fc.string(), fc.constant(url)),
        async (some, bytes, at) => {
          for (const request of [
            { method: 'POST', url: at, headers: some, body: bytes },
            { method: 'GET', url: at, headers: { ...headers, ...some }, body: bytes },
          ]) {
            const verdict = await prepared.verify(request, ports);
            expect(['verified', 'refused', 'answer', 'unavailable']).toContain(verdict.kind);
            try {
              expect(prepared.eventOf(request).type).toMatch(/^[a-zA-Z0-9\-_.]{1,256}$/);
            } catch (error) {
              expect(error).toSatisfy(isInvalid);
            }
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('never throws for a word that every object has as a name, in any field, header or form, signed or not', async () => {
    const prepared = provider.prepare(old);
    const ports = portsWith(signer.pem, [authority.root], nowFor(name));
    for (const word of ['constructor', '__proto__', 'toString']) {
      for (const request of withWordSignedOrNot(word)) {
        const verdict = await prepared.verify(request, ports);
        expect(['verified', 'refused', 'answer', 'unavailable']).toContain(verdict.kind);
        try {
          expect(prepared.eventOf(request).type).toMatch(/^[a-zA-Z0-9\-_.]{1,256}$/);
        } catch (error) {
          expect(error).toSatisfy(isInvalid);
        }
      }
    }

    function* withWordSignedOrNot(word: string): Generator<InboundRequest> {
      yield* withWord(signed(name, signOld), word);
      for (const request of withWord(sampleOf(name, provider.sampleTypes[0] ?? ''), word)) {
        try {
          yield provider.sign(request, signOld, nowFor(name));
        } catch (error) {
          expect(error).toSatisfy(isInvalid);
        }
      }
    }
  });

  it('remembers event ids for at least a day and as long as it accepts a timestamp', () => {
    expect(provider.dedupeForMs).toBeGreaterThanOrEqual(Math.max(86_400_000, 2 * (provider.toleranceMs ?? 0)));
  });

  it('says so where the id or the type of an event is in a header that the signature does not cover', async () => {
    const request = signed(name, signOld);
    const prepared = provider.prepare(old);
    const ports = portsWith(signer.pem, [authority.root], nowFor(name));
    const event = prepared.eventOf(request);
    for (const header of Object.keys(request.headers)) {
      const changed = { ...request, headers: { ...request.headers, [header]: 'other' } };
      if ((await prepared.verify(changed, ports)).kind !== 'verified') continue;
      const { id, type } = prepared.eventOf(changed);
      if (id !== event.id || type !== event.type)
        expect([header, provider.doc]).toEqual([header, expect.stringMatching(/not signed/)]);
    }
  });

  it('says what each setting is for', () => {
    for (const spec of Object.values({ ...provider.settings, ...provider.signSettings }))
      expect(spec.doc.length).toBeGreaterThan(5);
    expect(provider.title && provider.doc).toBeTruthy();
  });
});

describe.each(CASES.filter(({ name }) => findProvider(name).toleranceMs !== undefined))(
  '$name',
  ({ name, old, signOld }) => {
    it('refuses what was signed too long ago or too far ahead', async () => {
      const tolerance = findProvider(name).toleranceMs ?? 0;
      const now = nowFor(name);
      const request = signed(name, signOld);
      expect(await verify(name, old, request, now + tolerance - 1000)).toEqual({ kind: 'verified' });
      expect(await verify(name, old, request, now + tolerance + 1000)).toMatchObject({ kind: 'refused' });
      const ahead = await verify(name, old, request, now - tolerance - 1000);
      expect(ahead).toMatchObject({ kind: 'refused' });
      const shorter = { ...old, toleranceSeconds: '1' };
      expect(await verify(name, shorter, request, now + 2000)).toMatchObject({ kind: 'refused' });
    });
  },
);

it.each([
  ['mailgun', 8],
  ['paypal', 3 * 24],
  ['sendgrid', 20],
])(
  '%s: takes what was signed %i hours ago, for it retries as long and does not say that it signs afresh',
  async (name, hours) => {
    const { old, signOld } = CASES.find((each) => each.name === name) ?? {};
    const request = signed(name, signOld ?? {});
    expect(await verify(name, old ?? {}, request, nowFor(name) + hours * 3_600_000)).toEqual({ kind: 'verified' });
  },
);

/** Those whose signature does not cover the whole body, by the provider's design, have tests of their own. */
const UNSIGNED_BODY = ['adyen', 'mailgun', 'basic', 'api-key', 'aws-sns'];

describe.each(CASES.filter(({ name }) => !UNSIGNED_BODY.includes(name)))('$name', ({ name, old, signOld }) => {
  it('refuses a body with any one bit flipped', async () => {
    const request = signed(name, signOld);
    const prepared = findProvider(name).prepare(old);
    const ports = portsWith(signer.pem, [authority.root], nowFor(name));
    const step = Math.ceil(request.body.length / 40);
    for (let at = 0; at < request.body.length; at += step) {
      const body = Buffer.from(request.body);
      body[at] = (body[at] ?? 0) ^ (1 << (at % 8));
      // A form's + and %20 are the same text, and so are the cases of its hex digits.
      if (name === 'twilio' && new URLSearchParams(body.toString()).toString() === request.body.toString()) continue;
      expect((await prepared.verify({ ...request, body }, ports)).kind, `byte ${at}`).toBe('refused');
    }
  });
});

describe('hubspot', () => {
  const verdictOf = (called: string, signedUrl: string) => {
    const content = `POSThttps://example.com/in?a=${signedUrl}{}${NOW}`;
    const headers = {
      'x-hubspot-request-timestamp': String(NOW),
      'x-hubspot-signature-v3': createHmac('sha256', 's1').update(content).digest('base64'),
    };
    const request = { method: 'POST', url: `https://example.com/in?a=${called}`, headers, body: Buffer.from('{}') };
    return findProvider('hubspot').prepare({ clientSecret: 's1' }).verify(request, portsWith('', []));
  };

  // Its page on request validation lists these.
  it.each([...":/?@!$'()*,;"])('signs %s where the URL has its code', (character) => {
    const code = `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
    for (const called of [code, code.toLowerCase()]) {
      expect(verdictOf(called, character)).toEqual({ kind: 'verified' });
      expect(verdictOf(called, called)).toMatchObject({ kind: 'refused' });
    }
  });

  it.each(['%20', '%25', '%26', '%2B', '%3D', '%23', '%C3%A9'])('signs %s as it was sent', (code) => {
    expect(verdictOf(code, code)).toEqual({ kind: 'verified' });
    expect(verdictOf(code, decodeURIComponent(code))).toMatchObject({ kind: 'refused' });
  });
});

describe('none', () => {
  it('takes everything and says so loudly', () => {
    const none = findProvider('none');
    expect(none.warning).toMatch(/anyone/i);
    const request = none.sample('order.paid', SAMPLE);
    expect(none.prepare({}).verify(request, portsWith('', []))).toEqual({ kind: 'verified' });
    expect(none.prepare({}).eventOf(request)).toEqual({ type: 'order.paid' });
    expect(PROVIDERS.filter(({ warning }) => warning !== undefined)).toEqual([none]);
  });
});

describe('findProvider', () => {
  it('finds a provider by its name and its aliases', () => {
    for (const provider of PROVIDERS) {
      for (const name of [provider.name, ...provider.aliases]) expect(findProvider(name)).toBe(provider);
    }
    expect(new Set(PROVIDERS.flatMap(({ name, aliases }) => [name, ...aliases])).size).toBe(
      PROVIDERS.reduce((sum, { aliases }) => sum + 1 + aliases.length, 0),
    );
  });

  it('asks back when a name is misspelt', () => {
    expect(() => findProvider('strype')).toThrow('Did you mean stripe?');
    expect(() => findProvider('xyzzy')).toThrow('generic-hmac takes most others');
  });
});

describe('sample', () => {
  it('asks back when a type is misspelt', () => {
    expect(() => findProvider('stripe').sample('invoice.payed', SAMPLE)).toThrow('did you mean invoice.paid?');
  });
});
