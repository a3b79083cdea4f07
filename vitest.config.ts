import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { ON_BULLMQ, ON_POSTGRES } from './test/store-matrix.ts';

/** One run of test files on one store: POSTHORN_TEST_STORE is read by src/testing/test-store.ts. */
function onStore(name: string, include: readonly string[], retry = 0) {
  return {
    test: {
      name,
      include: [...include],
      env: { POSTHORN_TEST_STORE: name },
      pool: 'forks' as const,
      // Files share what they import: loading it anew for each of them took more than half of the time of all tests.
      isolate: false,
      retry,
      testTimeout: 30_000,
      hookTimeout: 30_000,
    },
  };
}

export default defineConfig({
  test: {
    globalSetup: ['scripts/services/global-setup.mjs'],
    // Half of the time a test waits: for a commit, a process, a timer. One worker a core, not one fewer, uses it.
    maxWorkers: availableParallelism(),
    projects: [
      // Processes, terminals and real clocks on a shared machine: what fails twice in a row is broken.
      onStore('sqlite', ['src/**/*.test.ts', 'test/**/*.test.ts'], 1),
      onStore('postgres', ON_POSTGRES),
      onStore('postgres+bullmq', ON_BULLMQ),
    ],
  },
});
