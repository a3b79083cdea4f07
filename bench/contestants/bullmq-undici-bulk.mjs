// The best that a user of BullMQ can write: undici, and jobs that are added in bulk.
import { openBullmqInBulk } from './bullmq.mjs';
import { open as openWithUndici } from './bullmq-undici.mjs';

export function open(options) {
  return openWithUndici(options, openBullmqInBulk);
}
