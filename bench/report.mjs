// Plain text for a terminal.

const BAR_WIDTH = 40;

export function count(value) {
  return Math.round(value).toLocaleString('en-US');
}

export function megabytes(bytes) {
  return `${count(bytes / 1e6)} MB`;
}

export function milliseconds(value) {
  return `${value < 10 ? value.toFixed(2) : value.toFixed(1)} ms`;
}

/** A median with the rounds it lies between. */
export function ratio({ median, min, max }) {
  return `${median.toFixed(2)} [${min.toFixed(2)}–${max.toFixed(2)}]`;
}

/** The first column to the left, the others to the right. */
export function table(head, rows) {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column].length)));
  const line = (row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]))).join('  ');
  return [line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n');
}

export function bars(entries) {
  const most = Math.max(...entries.map(({ value }) => value));
  const width = Math.max(...entries.map(({ title }) => title.length));
  return entries
    .map(({ title, value, text }) => {
      const length = Math.max(1, Math.round((value / most) * BAR_WIDTH));
      return `${title.padEnd(width)}  ${'#'.repeat(length).padEnd(BAR_WIDTH)}  ${text}`;
    })
    .join('\n');
}

/** One line per target: `library ≥ 0.5 × limit: 0.61 [0.58–0.64] ✓`. */
export function verdicts(targets) {
  return targets
    .map(({ label, met, measured, why }) => {
      if (met === undefined) return `${label}: not measured (${why})`;
      return `${label}: ${measured} ${met ? '✓' : '✗'}`;
    })
    .join('\n');
}
