import type { Clock } from '../clock.ts';
import type { Environment } from '../config/index.ts';

/** What a command knows of the world that it was started in. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  readonly env: Environment;
  readonly clock: Clock;
  /** Whether stderr is a person's terminal, on which a line can be written over. */
  readonly isTerminal?: boolean;
}
