// Document 002 as written: BullMQ, and axios with its own defaults.
import { openBullmq } from './bullmq.mjs';
import { postWithAxios } from './post.mjs';

export function open(options) {
  return openBullmq(options, postWithAxios);
}
