/** A simulation for the terminal: what happened as a table, and when as a plot of plain characters. */
import { formatDuration, type SimulatedAttempt, type Simulation } from '../policy/index.ts';
import { table } from './table.ts';

const PLOT_WIDTH = 60;

export function timelineTable(simulation: Simulation): string {
  const rows = simulation.attempts.map((attempt, index) => {
    const previous = simulation.attempts[index - 1]?.decision;
    const waited = previous?.kind === 'retry' ? formatDuration(previous.delayMs) : '';
    return [String(attempt.number), at(attempt.startsAtMs), waited, attempt.outcome, attempt.decision.reason];
  });
  return table([['attempt', 'at', 'after a wait of', 'outcome', 'because'], ...rows]);
}

/**
 * One line for the endpoint (down or up) and one for the attempts: x failed, O delivered, D dead. Attempts too close
 * for one column show their number instead.
 */
export function timelinePlot(simulation: Simulation, outageMs: number): string {
  const endMs = Math.max(simulation.lateMs, outageMs, 1);
  const column = (ms: number) => Math.min(PLOT_WIDTH - 1, Math.floor((ms / endMs) * PLOT_WIDTH));
  const downColumns = Math.min(PLOT_WIDTH, Math.ceil((outageMs / endMs) * PLOT_WIDTH));
  const endpoint = '#'.repeat(downColumns).padEnd(PLOT_WIDTH, '.');
  const attempts = Array.from({ length: PLOT_WIDTH }, (_, here) =>
    mark(simulation.attempts.filter(({ startsAtMs }) => column(startsAtMs) === here)),
  ).join('');
  const end = formatDuration(endMs);
  return [
    `  endpoint |${endpoint}|  # down  . up`,
    `  attempts |${attempts}|  x failed  O delivered  D dead  2-9 that many`,
    `           0${end.padStart(PLOT_WIDTH)}`,
    '',
  ].join('\n');
}

function mark(attempts: readonly SimulatedAttempt[]): string {
  const [only] = attempts;
  if (only === undefined) return ' ';
  if (attempts.length > 1) return String(Math.min(9, attempts.length));
  return { failed: 'x', delivered: 'O', dead: 'D' }[only.outcome];
}

function at(ms: number): string {
  return ms === 0 ? '0' : `+ ${formatDuration(ms)}`;
}
