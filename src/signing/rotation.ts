import { PosthornError } from '../errors.ts';
import type { EndpointSecret } from '../model/index.ts';

export interface RotateOptions {
  readonly now: number;
  /** How long receivers have to change over: the old secret signs beside the new one until then. */
  readonly graceMs: number;
  /** Unexpired old secrets at most, since each one adds a signature to every request. */
  readonly maxOld?: number;
}

/**
 * The secrets after a rotation, newest first. The one that was current expires after the grace period, the ones that
 * already have an end keep it, and those that are over are gone.
 */
export function rotate(
  secrets: readonly EndpointSecret[],
  newKey: string,
  { now, graceMs, maxOld = 10 }: RotateOptions,
): EndpointSecret[] {
  const ending = secrets.map((secret) =>
    secret.expiresAt === undefined ? { ...secret, expiresAt: now + graceMs } : secret,
  );
  const old = liveSecrets(ending, now);
  if (old.length > maxOld) {
    throw new PosthornError(
      'limit_reached',
      `an endpoint may have ${maxOld} old secrets that are still valid; wait until one expires, or rotate with a grace period of 0`,
    );
  }
  return [{ key: newKey, createdAt: now }, ...old];
}

/** The secrets to sign with, in their order. A secret is over at the very millisecond of its `expiresAt`. */
export function liveSecrets(secrets: readonly EndpointSecret[], now: number): EndpointSecret[] {
  return secrets.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now);
}

/** When the live secrets change by themselves next: a signer made from them is good until then. */
export function nextExpiry(secrets: readonly EndpointSecret[], now: number): number | undefined {
  const ends = liveSecrets(secrets, now).flatMap(({ expiresAt }) => expiresAt ?? []);
  return ends.length === 0 ? undefined : Math.min(...ends);
}
