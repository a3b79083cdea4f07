// Webhooks on BullMQ as document 002 writes them, whichever HTTP client posts.
import { Queue, Worker } from 'bullmq';
import { payload } from '../event.mjs';
import { batched } from './batched.mjs';
import { IN_FLIGHT } from './in-flight.mjs';

const JOB_OPTIONS = {
  attempts: 6,
  backoff: { type: 'exponential', delay: 1000 },
  removeOnComplete: { age: 86_400, count: 1000 },
  removeOnFail: false,
};

/** `post(data)` sends one webhook and gives the status, or throws with `response.status` when it is not a 2xx. */
export function openBullmq(options, post) {
  return openQueue(
    options,
    post,
    (queue) =>
      ({ name, data, opts }) =>
        queue.add(name, data, opts),
  );
}

/** The same with `addBulk` for all publishes that wait. */
export function openBullmqInBulk(options, post) {
  return openQueue(options, post, (queue) => batched((jobs) => queue.addBulk(jobs)));
}

async function openQueue({ url, redisUrl, onRecorded, onTrouble }, post, addTo) {
  const connection = { url: redisUrl, maxRetriesPerRequest: null };
  const queue = new Queue('webhooks', { connection });
  const worker = new Worker('webhooks', (job) => handleDelivery(job, post), { connection, concurrency: IN_FLIGHT });
  worker.on('completed', (_job, result) => {
    if (result.success) onRecorded();
    else onTrouble(`a delivery was given up: status ${result.status}`);
  });
  worker.on('failed', (_job, error) => onTrouble(`an attempt failed: ${error.message}`));
  worker.on('error', (error) => onTrouble(`the worker is in trouble: ${error.message}`));
  queue.on('error', (error) => onTrouble(`the queue is in trouble: ${error.message}`));
  await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);
  const add = addTo(queue);
  return {
    async publish(deliveryId) {
      await add({ name: 'deliver', data: { deliveryId, url, payload }, opts: JOB_OPTIONS });
      return deliveryId;
    },
    async close() {
      await worker.close(true);
      await queue.close();
    },
  };
}

async function handleDelivery(job, post) {
  try {
    const status = await post(job.data);
    if (status >= 200 && status < 300) return { success: true, status };
    throw new Error(`Unexpected status: ${status}`);
  } catch (error) {
    if (!shouldRetry(error)) return { success: false, permanent: true, status: error.response.status };
    throw error;
  }
}

/** Client errors are final, except 429; server errors, network failures and timeouts are tried again. */
function shouldRetry(error) {
  const status = error.response?.status;
  return status === undefined || status === 429 || status >= 500;
}
