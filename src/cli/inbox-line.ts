import type { Arrival } from './inbox.ts';
import { terminalLine } from './terminal-line.ts';

const LONGEST_BODY = 80;

/** An arrival in one line. */
export function inboxLine({ at, eventType, messageId, verified, retry, body }: Arrival): string {
  const signature = verified ? 'signature ✓' : 'signature ✗';
  const again = retry > 0 ? ` (retry ${retry})` : '';
  const short = body.length > LONGEST_BODY ? `${body.slice(0, LONGEST_BODY)}…` : body;
  return terminalLine(Date.parse(at), eventType, messageId, `${signature}${again}`, short);
}
