export interface Interruptible {
  interrupt(): void;
}

/**
 * One listener per signal, however many attempts share it: adding a listener to an AbortSignal scans those it has, so
 * a shared shutdown signal would cost more with every attempt under way.
 */
export class SignalGroups {
  private readonly groups = new WeakMap<AbortSignal, Set<Interruptible>>();

  add(signal: AbortSignal, member: Interruptible): void {
    let group = this.groups.get(signal);
    if (group === undefined) {
      const members = new Set<Interruptible>();
      group = members;
      this.groups.set(signal, members);
      signal.addEventListener(
        'abort',
        () => {
          for (const each of [...members]) each.interrupt();
        },
        { once: true },
      );
    }
    group.add(member);
  }

  delete(signal: AbortSignal, member: Interruptible): void {
    this.groups.get(signal)?.delete(member);
  }
}
