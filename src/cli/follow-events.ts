/** The events of a source as they come: a place in the server's log is kept here, and nothing there. */
import type { FollowedOut } from '../api/index.ts';
import { type Clock, sleep } from '../clock.ts';
import { isPosthornError } from '../errors.ts';
import type { ApiClient } from './api-client.ts';

export type FollowedEvent = FollowedOut['data'][number];

export interface FollowOptions {
  readonly source: string;
  /** Where to begin. */
  readonly after: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The server cannot be reached, or can again. Nothing is missed: it is asked from the same place on. */
  readonly onConnection: (lost: string | undefined) => void;
}

/** Below what proxies cut. */
const WAIT_S = '20';
const RETRY_MS = 1000;

/** The end of the log, from which on everything is new. */
export async function placeOfNow(client: ApiClient, source: string): Promise<string> {
  return (await client.get<FollowedOut>('message/follow', { source })).iterator;
}

/** Each once, oldest first. More is asked for when these have been dealt with: slow work holds nothing up but itself. */
export async function* followEvents(client: ApiClient, options: FollowOptions): AsyncGenerator<FollowedEvent> {
  const { source, clock, signal, onConnection } = options;
  let { after } = options;
  let seen = new Set<string>();
  let lost = false;
  while (!signal.aborted) {
    let answer: FollowedOut;
    try {
      const query = { source, after, known: String(seen.size), wait: WAIT_S };
      answer = await client.get('message/follow', query, signal);
    } catch (error) {
      if (signal.aborted) return;
      // A server that restarts or is being replaced; what it says about the request is for the user.
      if (!isPosthornError(error, 'not_ready') && !isPosthornError(error, 'closed')) throw error;
      if (!lost) onConnection(error.message);
      lost = true;
      await sleep(clock, RETRY_MS);
      continue;
    }
    if (lost) onConnection(undefined);
    lost = false;
    for (const event of answer.data) {
      if (seen.has(event.id)) continue;
      seen.add(event.id);
      yield event;
    }
    const { iterator } = answer;
    after = iterator;
    seen = new Set([...seen].filter((id) => id > iterator));
  }
}
