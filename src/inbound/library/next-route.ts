import { PosthornError } from '../../errors.ts';
import { kindOf } from '../../resources/index.ts';
import type { Receivers } from './receivers.ts';

/**
 * For a route handler of Next.js, `export const { GET, POST } = nextRoute(async () => (await openHooks()).stripe)`: the
 * source is opened with the first request, because `next build` loads every route and serves none. An opening that fails
 * is tried again with the next request.
 */
export function nextRoute(open: () => Promise<Pick<Receivers, 'receive'>>): ReturnType<Receivers['next']> {
  if (typeof open !== 'function') throw notOpening('takes a function', open);
  let opened: ReturnType<typeof open> | undefined;
  async function receive(request: Request): Promise<Response> {
    opened ??= openSource();
    try {
      await opened;
    } catch (error) {
      opened = undefined;
      throw error;
    }
    return (await opened).receive(request);
  }

  async function openSource(): ReturnType<typeof open> {
    const source = await open();
    if (typeof source?.receive !== 'function') throw notOpening('takes a function that resolves to a source', source);
    return source;
  }

  return { GET: receive, POST: receive };
}

function notOpening(problem: string, given: unknown): PosthornError {
  const call = 'nextRoute(async () => (await openHooks()).stripe)';
  return new PosthornError('validation', `nextRoute ${problem}, and this is ${kindOf(given)}: ${call}`);
}
