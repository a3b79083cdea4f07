#!/usr/bin/env node
/**
 * The command line's door: the only place that reads the environment, and the end of every error.
 *
 * Refuses: rules of its own about webhooks (it asks the library, as any user would) and a stack trace where a sentence
 * will do. Promises: what went wrong is one clear message on stderr; the exit code is 0 when it worked, 2 when the
 * command or the configuration is wrong, 1 otherwise. The system's clock counts.
 */
import { systemClock } from '../clock.ts';
import { runCli } from './program.ts';

// A reader that has seen enough (`posthorn policy list | head -1`) is no error.
process.stdout.on('error', () => {});

process.exitCode = await runCli(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  // eslint-disable-next-line no-restricted-properties -- the one place that hands the environment to config/
  env: process.env,
  clock: systemClock,
  isTerminal: process.stderr.isTTY === true,
  get keyboard() {
    // Opened by being looked at: only commands that read keys do.
    return process.stdin;
  },
});
