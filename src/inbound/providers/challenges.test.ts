import { createHmac, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { InboundRequest, ProviderSettings } from './provider.ts';
import { findProvider } from './registry.ts';
import { NOW, portsWith } from './testing/provider-cases.ts';

const ports = portsWith('', []);

function signed(
  name: string,
  settings: ProviderSettings,
  body: object,
  headers: Record<string, string> = {},
): InboundRequest {
  const request = { method: 'POST', url: 'https://example.com/in', headers, body: Buffer.from(JSON.stringify(body)) };
  return findProvider(name).sign(request, settings, NOW);
}

function verdictOf(name: string, settings: ProviderSettings, request: InboundRequest) {
  return findProvider(name).prepare(settings).verify(request, ports);
}

describe('slack', () => {
  const settings = { signingSecret: 's1' };
  const challenge = { type: 'url_verification', challenge: '<script>3eZbrw1aB' };

  it('echoes the challenge as plain text, and only when it is signed', () => {
    expect(verdictOf('slack', settings, signed('slack', settings, challenge))).toMatchObject({
      kind: 'answer',
      status: 200,
      headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
      body: '<script>3eZbrw1aB',
    });
    expect(verdictOf('slack', settings, signed('slack', { signingSecret: 's2' }, challenge))).toMatchObject({
      kind: 'refused',
    });
    expect(verdictOf('slack', settings, signed('slack', settings, { type: 'url_verification' }))).toMatchObject({
      kind: 'refused',
    });
  });

  it('answers the look at the certificate of a command, signed or not, and no other form', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const form = (body: string, given: Record<string, string> = headers) =>
      verdictOf('slack', settings, { method: 'POST', url: '', headers: given, body: Buffer.from(body) });
    expect(form('ssl_check=1&token=x')).toEqual({ kind: 'answer', status: 200, headers: {}, body: '' });
    expect(form('ssl_check=0&command=/weather')).toMatchObject({ kind: 'refused' });
    expect(form('text=ssl_check%3D1')).toMatchObject({ kind: 'refused' });
    expect(form('ssl_check=1', {})).toMatchObject({ kind: 'refused' });
  });

  it('takes an event that merely speaks of url_verification as an event', () => {
    const event = { type: 'event_callback', event_id: 'Ev1', event: { type: 'message', text: 'url_verification' } };
    expect(verdictOf('slack', settings, signed('slack', settings, event))).toEqual({ kind: 'verified' });
  });
});

describe('zoom', () => {
  const settings = { secretToken: ['new', 'old'] };
  const validation = { event: 'endpoint.url_validation', payload: { plainToken: 'qgg8vlvZRS6UYooatFL8Aw' } };

  it('answers with the HMAC of the token under the secret that the request was signed with', async () => {
    for (const secret of settings.secretToken) {
      const verdict = await verdictOf('zoom', settings, signed('zoom', { secretToken: secret }, validation));
      const encryptedToken = createHmac('sha256', secret).update('qgg8vlvZRS6UYooatFL8Aw').digest('hex');
      expect(verdict).toMatchObject({ kind: 'answer', status: 200 });
      expect(verdict.kind === 'answer' && JSON.parse(verdict.body)).toEqual({
        plainToken: 'qgg8vlvZRS6UYooatFL8Aw',
        encryptedToken,
      });
    }
  });

  it('is no machine that signs for strangers', () => {
    expect(verdictOf('zoom', settings, signed('zoom', { secretToken: 'x' }, validation))).toMatchObject({
      kind: 'refused',
    });
    const forgery = {
      event: 'endpoint.url_validation',
      payload: { plainToken: `v0:${NOW / 1000}:{"event":"meeting.ended"}` },
    };
    expect(verdictOf('zoom', settings, signed('zoom', { secretToken: 'new' }, forgery))).toMatchObject({
      kind: 'refused',
    });
  });
});

describe('twitch', () => {
  const settings = { secret: 's1' };
  const kind = (type: string) => ({
    'twitch-eventsub-message-id': 'id-1',
    'twitch-eventsub-message-type': type,
  });
  const body = { challenge: 'pogchamp-kappa-360noscope', subscription: { type: 'stream.online' } };

  it('echoes the challenge when it is signed', () => {
    const request = signed('twitch', settings, body, kind('webhook_callback_verification'));
    expect(verdictOf('twitch', settings, request)).toMatchObject({ kind: 'answer', status: 200, body: body.challenge });
    expect(verdictOf('twitch', { secret: 's2' }, request)).toMatchObject({ kind: 'refused' });
  });

  it('refuses a message whose id was changed, and tells of a revocation as an event', () => {
    const request = signed('twitch', settings, body, kind('revocation'));
    expect(verdictOf('twitch', settings, request)).toEqual({ kind: 'verified' });
    expect(findProvider('twitch').prepare(settings).eventOf(request)).toMatchObject({ id: 'id-1', type: 'revocation' });
    const other = { ...request, headers: { ...request.headers, 'twitch-eventsub-message-id': 'id-2' } };
    expect(verdictOf('twitch', settings, other)).toMatchObject({ kind: 'refused' });
  });
});

describe('meta', () => {
  const settings = { appSecret: 's1', verifyToken: ['meatyhamhock', 'other'] };
  const get = (query: string): InboundRequest => ({
    method: 'GET',
    url: `https://example.com/in?${query}`,
    headers: {},
    body: Buffer.alloc(0),
  });

  it('echoes hub.challenge for a verify token that it knows', () => {
    const query = 'hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=';
    expect(verdictOf('meta', settings, get(`${query}meatyhamhock`))).toMatchObject({
      kind: 'answer',
      status: 200,
      body: '1158201444',
    });
    for (const bad of [
      `${query}wrong`,
      query,
      'hub.mode=unsubscribe&hub.challenge=1&hub.verify_token=meatyhamhock',
      'hub.mode=subscribe&hub.challenge=%3Cscript%3E&hub.verify_token=meatyhamhock',
      'hub.mode=subscribe&hub.verify_token=meatyhamhock',
      '',
    ]) {
      expect(verdictOf('meta', settings, get(bad))).toMatchObject({ kind: 'refused' });
    }
    expect(verdictOf('meta', { appSecret: 's1' }, get(`${query}`))).toMatchObject({ kind: 'refused' });
  });

  it('knows WhatsApp messages and statuses by their ids', () => {
    const { eventOf } = findProvider('whatsapp').prepare(settings);
    const of = (value: object) =>
      eventOf(
        signed('meta', settings, {
          object: 'whatsapp_business_account',
          entry: [{ changes: [{ field: 'messages', value }] }],
        }),
      );
    expect(of({ messages: [{ id: 'wamid.1' }] })).toEqual({
      id: 'wamid.1',
      type: 'whatsapp_business_account.messages',
    });
    expect(of({ statuses: [{ id: 'wamid.1', status: 'read' }] })).toMatchObject({ id: 'wamid.1.read' });
    expect(of({ messages: [{ id: 'wamid.1' }, { id: 'wamid.2' }] })).toEqual({
      type: 'whatsapp_business_account.messages',
    });
  });
});

describe('discord', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const hex = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex');
  const settings = { publicKey: hex };
  const signWith = { ...settings, privateKey: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString() };

  it('answers both kinds of ping', () => {
    const webhook = signed('discord', signWith, { version: 1, application_id: '1', type: 0 });
    expect(verdictOf('discord', settings, webhook)).toEqual({ kind: 'answer', status: 204, headers: {}, body: '' });
    const interaction = signed('discord', signWith, { version: 1, id: '1', type: 1 });
    expect(verdictOf('discord', settings, interaction)).toMatchObject({
      kind: 'answer',
      status: 200,
      body: '{"type":1}',
    });
  });

  it('refuses pings with a wrong signature, which Discord sends to see whether it does', () => {
    const ping = signed('discord', signWith, { type: 1 });
    const headers = { ...ping.headers, 'x-signature-ed25519': '0'.repeat(128) };
    expect(verdictOf('discord', settings, { ...ping, headers })).toMatchObject({ kind: 'refused' });
  });
});
