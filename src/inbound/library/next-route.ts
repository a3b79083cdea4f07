import type { Receivers } from './receivers.ts';

/**
 * For a route handler of Next.js, `export const { GET, POST } = nextRoute(async () => (await openHooks()).stripe)`: the
 * source is opened with the first request, because `next build` loads every route and serves none. An opening that fails
 * is tried again with the next request.
 */
export function nextRoute(open: () => Promise<Pick<Receivers, 'receive'>>): ReturnType<Receivers['next']> {
  let opened: ReturnType<typeof open> | undefined;
  async function receive(request: Request): Promise<Response> {
    opened ??= open();
    try {
      await opened;
    } catch (error) {
      opened = undefined;
      throw error;
    }
    return (await opened).receive(request);
  }
  return { GET: receive, POST: receive };
}
