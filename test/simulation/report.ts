/** The numbers of a run, for a person. */
import type { NeighboursResult } from './neighbours.ts';
import { percentiles } from './percentiles.ts';

const BAR_WIDTH = 50;
const BUCKET_MS = 10;
const BUCKETS = 16;

export function latencyTable(runs: Readonly<Record<string, NeighboursResult>>): string {
  const rows = Object.entries(runs).flatMap(([name, { latenciesMs }]) =>
    Object.entries(latenciesMs)
      .filter(([, values]) => values.length > 0)
      .map(([kind, values]) => {
        const { count, p50, p99, max } = percentiles(values);
        return [name, kind, ...[count, p50, p99, max].map(String)];
      }),
  );
  return table([['scenario', 'endpoints', 'delivered', 'p50 ms', 'p99 ms', 'max ms'], ...rows]);
}

export function latencyPlot(title: string, values: readonly number[]): string {
  const counts = new Array<number>(BUCKETS).fill(0);
  for (const value of values) {
    const bucket = Math.min(BUCKETS - 1, Math.floor(value / BUCKET_MS));
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  const most = Math.max(1, ...counts);
  const lines = counts.map((count, bucket) => {
    const from = `${bucket * BUCKET_MS}${bucket === BUCKETS - 1 ? '+' : ''}`.padStart(6);
    return `${from} ms ${'█'.repeat(Math.ceil((count / most) * BAR_WIDTH)).padEnd(BAR_WIDTH)} ${count}`;
  });
  return [title, ...lines].join('\n');
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row.map((cell, column) => (column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)));
  return rows.map((row) => line(row).join('  ')).join('\n');
}
