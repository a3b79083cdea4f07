import { join } from 'node:path';
import { judgeClaims, measureClaims, measureWork, showClaims } from '../backlogs.mjs';
import { count, megabytes, milliseconds, table } from '../report.mjs';

const PENDING = 1_000_000;
const MAX_RSS_BYTES = 300e6;
const POSTHORN = { name: 'posthorn-library', title: 'Posthorn, library' };

/** A store that fills up because nobody answers: what a claim costs then, and how much memory the process takes. */
export async function backlog(bench) {
  const { processes, options, say } = bench;
  const pending = options.pending ?? PENDING;
  const folders = { few: processes.newFolder('few'), many: processes.newFolder('many') };
  const at = (folder) => ({ file: join(folder, 'posthorn.db') });
  try {
    const claims = await measureClaims(bench, { few: at(folders.few), many: at(folders.many) }, pending);
    say(`working on ${count(pending)} pending for ${options.seconds} s, with a healthy endpoint beside them …`);
    const working = await measureWork(bench, POSTHORN, folders.many);
    const results = { pending, ...claims, working };
    show(bench, results);
    return { results, targets: [judgeMemory(results), judgeClaims(results)] };
  } finally {
    for (const folder of Object.values(folders)) processes.removeFolder(folder);
  }
}

function show(bench, results) {
  const { fillPeakRssBytes, working } = results;
  showClaims(bench, results);
  bench.print(
    table(
      ['the process', 'peak RSS'],
      [
        ['that stored them', megabytes(fillPeakRssBytes)],
        [`that works on them (${working.held} in flight)`, megabytes(working.peakRssBytes)],
      ],
    ),
  );
  bench.print(`healthy endpoint meanwhile: p50 ${milliseconds(working.p50Ms)}, p99 ${milliseconds(working.p99Ms)}`);
}

function judgeMemory({ pending, fillPeakRssBytes, working }) {
  const peakRssBytes = Math.max(working.peakRssBytes, fillPeakRssBytes);
  return {
    label: `RSS at ${count(pending)} pending < 300 MB`,
    met: peakRssBytes < MAX_RSS_BYTES,
    measured: megabytes(peakRssBytes),
  };
}
