/** A command run in this process, with what it printed. */
import { systemClock } from '../../clock.ts';
import type { Environment } from '../../config/index.ts';
import { runCli } from '../program.ts';
import type { Keyboard } from '../terminal.ts';

export interface Ran {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

export interface Watching {
  readonly keyboard?: Keyboard;
  readonly isTerminal?: boolean;
  /** Called with all that was printed so far, each time that something is. */
  readonly onOut?: (out: string) => void;
}

export async function runInMemory(
  line: string | readonly string[],
  env: Environment = {},
  { keyboard, isTerminal = false, onOut }: Watching = {},
): Promise<Ran> {
  let out = '';
  let err = '';
  const args = typeof line === 'string' ? line.split(' ').filter((word) => word !== '') : line;
  const exitCode = await runCli(args, {
    out: (text) => {
      out += text;
      onOut?.(out);
    },
    err: (text) => {
      err += text;
    },
    env,
    clock: systemClock,
    isTerminal,
    ...(keyboard !== undefined && { keyboard }),
  });
  return { exitCode, out, err };
}
