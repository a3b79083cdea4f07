// @ts-check
// What vitest does before the first test file and after the last, in `npm test` and in `npx vitest` by hand alike.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../services.mjs', import.meta.url));

/** The addresses are in the environment of every test file; services.mjs ends itself when this process is gone. */
export default async function setup() {
  const services = fork(PROGRAM);
  const gone = once(services, 'exit');
  const [addresses] = await Promise.race([
    once(services, 'message'),
    gone.then(() => {
      throw new Error('scripts/services.mjs ended before it said where its servers are.');
    }),
  ]);
  Object.assign(process.env, addresses);
  return async () => {
    services.disconnect();
    await gone;
  };
}
