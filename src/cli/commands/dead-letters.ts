import { Command } from 'commander';
import { examples } from '../examples.ts';
import type { Terminal } from '../terminal.ts';
import { archiveCommand, restoreCommand } from './dead-letters-archive.ts';
import { groupsCommand, listCommand, reportCommand, showCommand } from './dead-letters-look.ts';
import { discardCommand, retryCommand } from './dead-letters-take.ts';

export function deadLettersCommand(terminal: Terminal, fail: () => void): Command {
  return new Command('dead-letters')
    .summary('look at, retry, discard and archive what could not be delivered')
    .description(
      'Look at, retry, discard and archive what could not be delivered. These commands talk to a running server: ' +
        'POSTHORN_URL (or --url) says where it is, POSTHORN_ADMIN_TOKEN (or --token) lets them in.',
    )
    .addHelpText(
      'after',
      examples(
        ['posthorn dead-letters groups', 'what failed alike, and how often'],
        ['posthorn dead-letters retry --group app_…/invoice.paid/3f9a…', 'after the fix: send them all again'],
        ['posthorn dead-letters report --markdown', 'the last seven days, for a review'],
      ),
    )
    .addCommand(listCommand(terminal))
    .addCommand(groupsCommand(terminal))
    .addCommand(showCommand(terminal))
    .addCommand(retryCommand(terminal))
    .addCommand(discardCommand(terminal))
    .addCommand(archiveCommand(terminal))
    .addCommand(restoreCommand(terminal, fail))
    .addCommand(reportCommand(terminal));
}
