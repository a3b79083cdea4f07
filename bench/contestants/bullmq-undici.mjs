// Document 002 with undici in place of axios: what is left is the queue.
import { openBullmq } from './bullmq.mjs';
import { openUndici } from './post.mjs';

export async function open(options, openQueue = openBullmq) {
  const undici = openUndici(options.url);
  const bullmq = await openQueue(options, undici.post);
  return {
    ...bullmq,
    async close() {
      await bullmq.close();
      await undici.close();
    },
  };
}
