/** What `posthorn doctor` finds out about a PostgreSQL server, by looking only. */
import type { Clock } from '../clock.ts';
import { withoutPassword } from '../config/index.ts';
import { describeError } from '../errors.ts';
import { formatDuration } from '../policy/index.ts';
import { inspectPostgres } from '../store/postgres/index.ts';
import { bad, describeCounts, type Finding, good } from './findings.ts';

/** Nodes tell by their own clocks whether another's lease has run out: half of the shortest useful lease is too much. */
const MOST_APART_MS = 2000;
const MOST_COUNTED = 10_000;

export async function* checkPostgres(url: string, clock: Clock): AsyncGenerator<Finding> {
  const shown = withoutPassword(url);
  try {
    const { schema, clockAheadMs, counts } = await inspectPostgres({ url, clock, most: MOST_COUNTED });
    if (schema === 'newer') {
      yield bad(
        'store',
        `${shown} was written by a newer Posthorn`,
        'Upgrade this installation, or use another schema.',
      );
    } else if (schema === 'missing') {
      yield good('store', `${shown} answers; the schema will be made at the first start`);
    } else if (schema === 'old') {
      yield good('store', `${shown} answers; the schema will be brought up to date at the next start`);
    } else {
      yield good('store', `${shown} answers (schema up to date${counts ? `; ${describeCounts(counts)}` : ''})`);
    }
    yield checkApart(clockAheadMs);
  } catch (error) {
    yield bad('store', `${shown} does not open`, describeError(error));
  }
}

function checkApart(aheadMs: number): Finding {
  const apart = Math.abs(aheadMs);
  if (apart <= MOST_APART_MS) return good('database clock', `as this machine's`);
  const way = aheadMs > 0 ? 'behind' : 'ahead of';
  return bad(
    'database clock',
    `${formatDuration(apart)} ${way} this machine's`,
    'Set both (NTP does it): nodes whose clocks differ take over what others are still sending.',
  );
}
