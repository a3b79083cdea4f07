import { describe } from 'vitest';
import { exerciseAccept } from './accept.ts';
import { exerciseClaim } from './claim.ts';
import { exerciseCounts } from './counts.ts';
import { exerciseDeadLetters } from './dead-letters.ts';
import { exerciseFirstSuccess } from './first-success.ts';
import { type StoreHarness, useScene } from './harness.ts';
import { exerciseHistories } from './histories.ts';
import { exerciseLease } from './lease.ts';
import { exerciseMaintain } from './maintain.ts';
import { exerciseNodes } from './nodes.ts';
import { exerciseReads } from './reads.ts';
import { exerciseReceiving } from './receiving.ts';
import { exerciseRecord } from './record.ts';
import { exerciseRecordHealth } from './record-health.ts';
import { exerciseRecords } from './records.ts';
import { exerciseRelease } from './release.ts';
import { exerciseRemembered } from './remembered.ts';
import { exerciseAddDelivery, exerciseDiscard, exerciseRedeliver } from './selection.ts';
import { exerciseSetStatus } from './set-status.ts';
import { exerciseSweep } from './sweep.ts';
import { exerciseTakeOver } from './take-over.ts';
import { exerciseTransact } from './transact.ts';

/** Runs the whole suite against one adapter. */
export function exerciseStore(name: string, harness: StoreHarness): void {
  describe(`the store on ${name}`, () => {
    describe('port', () => {
      const use = useScene(harness);
      const capabilities = harness.capabilities ?? {};
      exerciseNodes(use, capabilities);
      exerciseTakeOver(use);
      exerciseAccept(use, capabilities);
      exerciseClaim(use);
      exerciseLease(use);
      exerciseRecord(use);
      exerciseFirstSuccess(use);
      exerciseRecordHealth(use);
      exerciseTransact(use, capabilities);
      exerciseRelease(use);
      exerciseSetStatus(use);
      exerciseSweep(use, capabilities);
      exerciseRedeliver(use);
      exerciseAddDelivery(use);
      exerciseDiscard(use);
      exerciseDeadLetters(use);
      exerciseRecords(use);
      exerciseReads(use);
      exerciseRemembered(use);
      exerciseMaintain(use);
      exerciseCounts(use);
      exerciseReceiving(use);
    });
    exerciseHistories(harness);
  });
}
