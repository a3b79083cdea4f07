import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { signatureHeaders } from './signature-headers.ts';
import { createSigner } from './signer.ts';
import { verify } from './verify.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const ATTEMPT = {
  messageId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestampS: 1614265330,
  payload: Buffer.from('{"test": 2432232314}'),
  attemptNumber: 1,
};
const SIGNATURE = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';

/** What a receiver on loopback gets: Node's headers and the raw body. */
async function post(headers: string[], body: Buffer): Promise<{ headers: IncomingHttpHeaders; body: Buffer }> {
  let seen: IncomingHttpHeaders = {};
  const chunks: Buffer[] = [];
  const server = createServer((incoming, answer) => {
    seen = incoming.headers;
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => answer.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const answer = await request(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body });
    await answer.body.dump();
    return { headers: seen, body: Buffer.concat(chunks) };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('signatureHeaders', () => {
  it('SPI-11 X-Webhook-Signature and X-Webhook-Retry stand beside the Standard Webhooks headers', () => {
    expect(signatureHeaders(createSigner([SECRET]), ATTEMPT, { svixNames: false })).toEqual([
      'webhook-id',
      ATTEMPT.messageId,
      'webhook-timestamp',
      '1614265330',
      'webhook-signature',
      SIGNATURE,
      'X-Webhook-Signature',
      SIGNATURE,
      'X-Webhook-Retry',
      '0',
    ]);
  });

  it('SPI-11 each attempt counts its retries and is signed afresh with its own timestamp', () => {
    const signer = createSigner([SECRET]);
    const retry = signatureHeaders(
      signer,
      { ...ATTEMPT, timestampS: ATTEMPT.timestampS + 5, attemptNumber: 2 },
      { svixNames: false },
    );
    expect(retry[1]).toBe(ATTEMPT.messageId);
    expect(retry[3]).toBe('1614265335');
    expect(retry[5]).not.toBe(SIGNATURE);
    expect(retry[7]).toBe(retry[5]);
    expect(retry[9]).toBe('1');
  });

  it('adds the svix names with the same values when asked', () => {
    const headers = signatureHeaders(createSigner([SECRET]), ATTEMPT, { svixNames: true });
    expect(headers.slice(10)).toEqual([
      'svix-id',
      ATTEMPT.messageId,
      'svix-timestamp',
      '1614265330',
      'svix-signature',
      SIGNATURE,
    ]);
  });

  it('passes through undici and a real server to a receiver that verifies it, whatever the bytes are', async () => {
    const payload = Buffer.from([0, 0xff, 0xfe, 0x80, 0x0d, 0x0a, 0x7b]);
    const sent = signatureHeaders(createSigner([SECRET]), { ...ATTEMPT, payload }, { svixNames: true });
    const received = await post(sent, payload);
    expect(verify([SECRET], received.headers, received.body, { nowS: ATTEMPT.timestampS })).toEqual({
      ok: true,
      messageId: ATTEMPT.messageId,
      timestampS: ATTEMPT.timestampS,
    });
  });
});
