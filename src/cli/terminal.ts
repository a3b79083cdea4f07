import type { Clock } from '../clock.ts';
import type { Environment } from '../config/index.ts';

/** A keyboard: `process.stdin` has this shape. Nobody is at it when it is no TTY. */
export interface Keyboard {
  readonly isTTY?: boolean;
  setRawMode?(raw: boolean): unknown;
  on(event: 'data', listener: (bytes: Uint8Array) => void): unknown;
  off(event: 'data', listener: (bytes: Uint8Array) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

/** What a command knows of the world that it was started in. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  readonly env: Environment;
  readonly clock: Clock;
  /** Whether stderr is a person's terminal, on which a line can be written over. */
  readonly isTerminal?: boolean;
  readonly keyboard?: Keyboard;
}
