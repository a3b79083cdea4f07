/** Dead letters, their groups and reports as the wire shows them. */
import type { DeadLetterDetail, DeadLetterReport, GroupView } from '../resources/index.ts';
import type { DeadLetterDetailOut, GroupOut, ReportOut } from './contract-dead-letter.ts';
import { deliveryDetailOut } from './delivery-out.ts';
import { wholeMessageOut } from './whole-message-out.ts';
import { time } from './wire.ts';

export function deadLetterDetailOut(detail: DeadLetterDetail): DeadLetterDetailOut {
  return { ...deliveryDetailOut(detail), message: wholeMessageOut(detail.message) };
}

export function groupOut(group: GroupView): GroupOut {
  const { id, applicationId, eventType, fingerprint, count, countIsCapped, example } = group;
  return {
    id,
    applicationId,
    eventType,
    fingerprint,
    count,
    countIsCapped,
    firstAt: time(group.firstAt),
    lastAt: time(group.lastAt),
    error: example.lastError ?? example.reason,
    exampleId: example.id,
  };
}

export function reportOut({ from, to, total, groupCount, isCapped, groups }: DeadLetterReport): ReportOut {
  return {
    from: time(from),
    to: time(to),
    total,
    groupCount,
    isCapped,
    groups: groups.map((group) => ({ ...groupOut(group), owner: { ...group.owner } })),
  };
}
