/** Calls a function of the user's, which may be async: what it throws or rejects with is told, and goes no further. */
export function callListener<Event>(
  listener: (event: Event) => unknown,
  event: Event,
  onThrown: (error: unknown) => void,
): void {
  try {
    const returned = listener(event);
    // Nobody else waits for it: a rejection would end the process.
    if (returned instanceof Promise) returned.catch(onThrown);
  } catch (error) {
    onThrown(error);
  }
}
