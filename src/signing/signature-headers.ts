import type { Signer } from './signer.ts';

export interface SignedAttempt {
  readonly messageId: string;
  /** When this attempt starts: each attempt is signed afresh, or late retries would fall out of the tolerance. */
  readonly timestampS: number;
  readonly payload: Uint8Array;
  /** 1 for the first attempt. */
  readonly attemptNumber: number;
}

/**
 * The headers that prove an attempt, as the flat list of names and values that undici takes without another copy.
 * `svixNames` adds the `svix-*` names for receivers that verify with an older Svix library.
 */
export function signatureHeaders(signer: Signer, attempt: SignedAttempt, options: { svixNames: boolean }): string[] {
  const { messageId, timestampS } = attempt;
  const timestamp = String(timestampS);
  const signature = signer.sign(messageId, timestampS, attempt.payload);
  const headers = [
    'webhook-id',
    messageId,
    'webhook-timestamp',
    timestamp,
    'webhook-signature',
    signature,
    'X-Webhook-Signature',
    signature,
    'X-Webhook-Retry',
    String(attempt.attemptNumber - 1),
  ];
  if (options.svixNames) {
    headers.push('svix-id', messageId, 'svix-timestamp', timestamp, 'svix-signature', signature);
  }
  return headers;
}
