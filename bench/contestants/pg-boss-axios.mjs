// pg-boss as its users write it: one `send` for each event, a worker that takes batches and posts with axios.
import PgBoss from 'pg-boss';
import { payload } from '../event.mjs';
import { IN_FLIGHT } from './in-flight.mjs';
import { QUEUE, RETRIES } from './pg-boss-queue.mjs';
import { postWithAxios } from './post.mjs';

/** A worker sleeps between two fetches unless its batch took longer than this: with small ones the sleep is all it does. */
const WORK = { batchSize: 1000, pollingIntervalSeconds: 0.5 };

export async function open({ postgresUrl, url, onRecorded, onTrouble }) {
  const boss = new PgBoss({ connectionString: postgresUrl, max: 10 });
  boss.on('error', (error) => onTrouble(`pg-boss is in trouble: ${error.message}`));
  await boss.start();
  await boss.createQueue(QUEUE);
  await boss.work(QUEUE, WORK, async (jobs) => {
    const left = [...jobs];
    const deliver = async () => {
      for (let job = left.shift(); job !== undefined; job = left.shift()) await postWithAxios(job.data);
    };
    try {
      await Promise.all(Array.from({ length: IN_FLIGHT }, deliver));
    } catch (error) {
      onTrouble(`an attempt failed: ${error.message}`);
      throw error;
    }
    // pg-boss completes the batch after this and tells nobody when: the time ends one statement early, in its favour.
    for (const _ of jobs) onRecorded();
  });
  return {
    async publish(deliveryId) {
      await boss.send(QUEUE, { deliveryId, url, payload }, RETRIES);
      return deliveryId;
    },
    close: () => boss.stop({ graceful: false }),
  };
}
