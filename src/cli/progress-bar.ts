import type { Terminal } from './terminal.ts';

const WIDTH = 30;

export interface ProgressBar {
  /** So many more are done. */
  add(count: number): void;
  end(): void;
}

/**
 * A bar that grows in place on a terminal; elsewhere a line for each step, or one in `lineEveryMs` where steps are many.
 * `total` is not always known.
 */
export function progressBar(
  { err, clock, isTerminal = false }: Terminal,
  total: number | undefined,
  { lineEveryMs = 0 } = {},
): ProgressBar {
  let done = 0;
  let lineAt = lineEveryMs === 0 ? 0 : clock.now() + lineEveryMs;
  return {
    add(count) {
      done += count;
      if (isTerminal) err(`\r${bar(done, total)}`);
      else if (count > 0 && clock.now() >= lineAt) {
        lineAt = lineEveryMs === 0 ? 0 : clock.now() + lineEveryMs;
        err(`${numbers(done, total)}\n`);
      }
    },
    end() {
      if (isTerminal && done > 0) err('\n');
    },
  };
}

function bar(done: number, total: number | undefined): string {
  if (total === undefined || total === 0) return numbers(done, total);
  const share = Math.min(1, done / total);
  const filled = Math.round(share * WIDTH);
  return `[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${Math.round(share * 100)} %  ${numbers(done, total)}`;
}

function numbers(done: number, total: number | undefined): string {
  return total === undefined ? `${done}` : `${done} of ${Math.max(total, done)}`;
}
