import type { Arrival } from './inbox.ts';

const LONGEST_BODY = 80;
const CONTROL_CHARACTERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** An arrival in one line. What came over the network cannot move the cursor or forge a second line. */
export function inboxLine({ at, eventType, messageId, verified, retry, body }: Arrival): string {
  const signature = verified ? 'signature ✓' : 'signature ✗';
  const again = retry > 0 ? ` (retry ${retry})` : '';
  const short = body.length > LONGEST_BODY ? `${body.slice(0, LONGEST_BODY)}…` : body;
  const line = `${new Date(at).toTimeString().slice(0, 8)}  ${eventType}  ${messageId}  ${signature}${again}  ${short}`;
  return `${line.replace(CONTROL_CHARACTERS, ' ')}\n`;
}
