import type { Command } from 'commander';
import { describeSettings, type Overrides } from '../config/index.ts';

/** The settings that are worth a flag. They are checked by the same table as the variables. */
export type ServerFlags = Pick<Overrides, 'host' | 'port' | 'store' | 'role'>;

export function withServerOptions(command: Command): Command {
  return command
    .option('--host <host>', 'address to listen on (POSTHORN_HOST)')
    .option('--port <port>', 'port to listen on (POSTHORN_PORT)')
    .option('--store <url>', 'where everything is kept (POSTHORN_STORE)');
}

export function settingsHelp(): string {
  return `\nSettings, from the environment, with their defaults:\n${describeSettings()}`;
}
