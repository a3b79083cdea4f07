// Webhooks on graphile-worker, whichever HTTP client posts. It deletes a job when it is done.
import { Logger, run } from 'graphile-worker';
import { IN_FLIGHT } from './in-flight.mjs';

export const TASK = 'deliver';
/** The policy of document 002, which all contestants follow. */
export const MAX_ATTEMPTS = 6;

/** `post(data)` sends one webhook and throws when that failed; `settings` are graphile-worker's own. */
export async function openGraphileWorker({ postgresUrl, onRecorded, onTrouble }, post, settings = {}) {
  const runner = await run({
    preset: {
      worker: {
        connectionString: postgresUrl,
        concurrentJobs: IN_FLIGHT,
        // By its documentation: two more than run at once.
        maxPoolSize: IN_FLIGHT + 2,
        ...settings,
      },
    },
    // It would write a line for each job.
    logger: new Logger(() => () => {}),
    noHandleSignals: true,
    taskList: { [TASK]: async (data) => void (await post(data)) },
  });
  // It says so while the result is being written: the time ends a moment early, in its favour.
  runner.events.on('job:complete', ({ error }) => {
    if (!error) onRecorded();
    else onTrouble(`an attempt failed: ${error}`);
  });
  runner.events.on('worker:fatalError', ({ error }) => onTrouble(`a worker is in trouble: ${error}`));
  return runner;
}
