/** Relay: what was published inside a caller's own transaction is accepted as soon as that has committed. */
import type { Clock } from '../clock.ts';
import type { Acceptor } from './accept.ts';
import { Repeat } from './repeat.ts';

const MAX_RELAYED_AT_ONCE = 500;

interface RelayerOptions {
  readonly clock: Clock;
  readonly acceptor: Acceptor;
  readonly onTrouble: (error: unknown) => void;
}

export function createRelayer({ clock, acceptor, onTrouble }: RelayerOptions): Repeat {
  const duty: Repeat = new Repeat(clock, pass, onTrouble);

  async function pass(): Promise<void> {
    if ((await acceptor.relay(MAX_RELAYED_AT_ONCE)) > 0) duty.ask();
  }

  return duty;
}
