import type { ReceivedNotice } from '../inbound/index.ts';
import { terminalLine } from './terminal-line.ts';

/** What came in at a source, in one line. */
export function receivedLine(notice: ReceivedNotice, now: number): string {
  const from = `← ${notice.source}`;
  switch (notice.became) {
    case 'refused':
      return terminalLine(now, from, `${notice.status} refused: ${notice.reason}`);
    case 'answered':
      return terminalLine(now, from, `${notice.status} asked whether this URL is there: answered, nothing to store`);
    case 'stored':
    case 'skipped':
    case 'ignored':
      return terminalLine(now, from, notice.eventType, notice.eventId, became(notice));
  }
}

function became({
  became,
  destinations,
}: Extract<ReceivedNotice, { became: 'stored' | 'skipped' | 'ignored' }>): string {
  if (became === 'skipped') return 'received before';
  if (became === 'ignored') return 'ignored: nobody is for it';
  if (destinations === 0) return 'stored; nobody is for it';
  return destinations === 1 ? 'stored; 1 is for it' : `stored; ${destinations} are for it`;
}
