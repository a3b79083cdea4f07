// The best that a user of graphile-worker can write: undici, jobs added in bulk, fetched ahead and completed in batches.
import { makeWorkerUtils } from 'graphile-worker';
import { payload } from '../event.mjs';
import { batched } from './batched.mjs';
import { MAX_ATTEMPTS, openGraphileWorker, TASK } from './graphile-worker.mjs';
import { openUndici } from './post.mjs';

const SETTINGS = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0, maxPoolSize: 10 };

export async function open(options) {
  const undici = openUndici(options.url);
  const runner = await openGraphileWorker(options, undici.post, SETTINGS);
  const adder = await makeWorkerUtils({ connectionString: options.postgresUrl });
  const add = batched((jobs) => adder.addJobs(jobs));
  return {
    async publish(deliveryId) {
      const data = { deliveryId, url: options.url, payload };
      await add({ identifier: TASK, payload: data, maxAttempts: MAX_ATTEMPTS });
      return deliveryId;
    },
    async close() {
      await runner.stop();
      await adder.release();
      await undici.close();
    },
  };
}
