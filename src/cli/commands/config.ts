import { Command } from 'commander';
import { describeSettings, loadConfig } from '../../config/index.ts';
import { examples } from '../examples.ts';
import type { Terminal } from '../terminal.ts';

export function configCommand({ out, env }: Terminal): Command {
  return new Command('config')
    .summary('print every setting with its value')
    .description('Print every setting: its variable, its value now, and what it is for. Secrets are never shown.')
    .addHelpText(
      'after',
      examples(
        ['posthorn config', 'what is set, and what could be'],
        ['POSTHORN_PORT=9000 posthorn config', 'check a value before it is used'],
      ),
    )
    .action(() => out(describeSettings(loadConfig({ env }))));
}
