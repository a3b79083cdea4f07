// graphile-worker as its users write it: one `addJob` for each event, a task that posts with axios.
import { payload } from '../event.mjs';
import { MAX_ATTEMPTS, openGraphileWorker, TASK } from './graphile-worker.mjs';
import { postWithAxios } from './post.mjs';

export async function open(options) {
  const runner = await openGraphileWorker(options, postWithAxios);
  return {
    async publish(deliveryId) {
      await runner.addJob(TASK, { deliveryId, url: options.url, payload }, { maxAttempts: MAX_ATTEMPTS });
      return deliveryId;
    },
    close: () => runner.stop(),
  };
}
