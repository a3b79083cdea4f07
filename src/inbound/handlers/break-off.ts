/** The end of a handler's time: a signal for those who ask for one, before or after it has come. */
export class BreakOff {
  #controller: AbortController | undefined;
  #reason: Error | undefined;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  abort(reason: Error): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
  }

  /**
   * Calls back when `signal` is aborted; returns the way to stop listening. All who listen to one signal share one
   * listener of its own: adding and removing those costs more than a short handler does.
   */
  static listen(signal: AbortSignal, run: () => void): () => void {
    const runs = listeners.get(signal) ?? listenTo(signal);
    runs.add(run);
    return () => runs.delete(run);
  }
}

const listeners = new WeakMap<AbortSignal, Set<() => void>>();

function listenTo(signal: AbortSignal): Set<() => void> {
  const runs = new Set<() => void>();
  listeners.set(signal, runs);
  signal.addEventListener('abort', () => {
    for (const run of [...runs]) run();
  });
  return runs;
}
