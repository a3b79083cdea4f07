import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['scripts/services/global-setup.mjs'],
    pool: 'forks',
    // Half of the time a test waits: for a commit, a process, a timer. One worker a core, not one fewer, uses it.
    maxWorkers: availableParallelism(),
    // Real servers, processes and clocks on a shared machine: what fails twice in a row is broken.
    retry: 1,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
