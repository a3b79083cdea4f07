/** A command run in this process, with what it printed. */
import { systemClock } from '../../clock.ts';
import type { Environment } from '../../config/index.ts';
import { runCli } from '../program.ts';

export interface Ran {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

export async function runInMemory(line: string | readonly string[], env: Environment = {}): Promise<Ran> {
  let out = '';
  let err = '';
  const args = typeof line === 'string' ? line.split(' ').filter((word) => word !== '') : line;
  const exitCode = await runCli(args, {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    env,
    clock: systemClock,
  });
  return { exitCode, out, err };
}
