// The best that a user of pg-boss can write: undici, jobs inserted in bulk, fetched ahead without its worker's pauses, and
// completed in batches.
import PgBoss from 'pg-boss';
import { payload } from '../event.mjs';
import { batched } from './batched.mjs';
import { QUEUE, RETRIES } from './pg-boss-queue.mjs';
import { openUndici } from './post.mjs';
import { workAhead } from './work-ahead.mjs';

export async function open({ postgresUrl, url, onRecorded, onTrouble }) {
  const undici = openUndici(url);
  const boss = new PgBoss({ connectionString: postgresUrl, max: 10 });
  boss.on('error', (error) => onTrouble(`pg-boss is in trouble: ${error.message}`));
  await boss.start();
  await boss.createQueue(QUEUE);
  const insert = batched((jobs) => boss.insert(jobs));
  const complete = batched((ids) => boss.complete(QUEUE, ids));
  const worker = workAhead({
    fetch: (most) => boss.fetch(QUEUE, { batchSize: most }),
    async work(job) {
      await undici.post(job.data);
      await complete(job.id);
      onRecorded();
    },
    onTrouble,
  });
  return {
    async publish(deliveryId) {
      await insert({ name: QUEUE, data: { deliveryId, url, payload }, ...RETRIES });
      worker.wake();
      return deliveryId;
    },
    async close() {
      await worker.stop();
      await boss.stop({ graceful: false });
      await undici.close();
    },
  };
}
