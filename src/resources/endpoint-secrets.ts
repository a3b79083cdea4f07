import { invalid, PosthornError } from '../errors.ts';
import { randomSecret } from '../ids.ts';
import type { Endpoint, EndpointSecret } from '../model/index.ts';
import { generateSecret, parseSecret, rotate, secretForReceiver } from '../signing/index.ts';
import type { Context } from './context.ts';

export interface RotateInput {
  /** The new secret; one of the same kind as the current one is made without it. */
  readonly key?: string | null;
  /** How long the old secret goes on signing beside the new one; a day without it. */
  readonly gracePeriodSeconds?: number | null;
}

const DEFAULT_GRACE_S = 86_400;
const MAX_GRACE_S = 604_800;

export function currentSecret({ secretBox }: Context, { secrets, id }: Endpoint): string {
  const [current] = secrets;
  if (current === undefined) throw new PosthornError('not_found', `Endpoint ${id} has no secret; rotate to make one`);
  return secretForReceiver(secretBox.open(current.key));
}

export function rotateSecret(
  { secretBox, clock }: Context,
  secrets: readonly EndpointSecret[],
  input: RotateInput,
): readonly EndpointSecret[] {
  const graceS = input.gracePeriodSeconds ?? DEFAULT_GRACE_S;
  if (!Number.isInteger(graceS) || graceS < 0 || graceS > MAX_GRACE_S) {
    throw invalid(['body', 'gracePeriodSeconds'], `must be a whole number of seconds from 0 to ${MAX_GRACE_S}`);
  }
  const [current] = secrets;
  const plain = current && secretBox.open(current.key);
  if (input.key !== undefined && input.key !== null) {
    parseSecret(input.key, ['body', 'key']);
    if (input.key === plain) throw invalid(['body', 'key'], 'is the current secret already; give a new one');
  }
  const kind = plain === undefined ? 'hmac' : parseSecret(plain).kind;
  const key = secretBox.seal(input.key ?? generateSecret(kind, randomSecret));
  return rotate(secrets, key, { now: clock.now(), graceMs: graceS * 1000 });
}
