import { Command } from 'commander';
import { describeSettings } from '../../config/index.ts';
import { runChecks } from '../checks.ts';
import { examples } from '../examples.ts';
import type { Finding } from '../findings.ts';
import type { Terminal } from '../terminal.ts';

const MARKS: Readonly<Record<Finding['kind'], string>> = { good: '✓', notice: '!', bad: '✗' };

export function doctorCommand(terminal: Terminal, fail: () => void): Command {
  return new Command('doctor')
    .summary('find out whether `posthorn serve` would start here')
    .description(
      'Find out whether `posthorn serve` would start here with this configuration: ✓ is fine, ! is worth knowing, ✗ has ' +
        'to be mended first. The store is opened as a start would open it. Where the server runs already, that is said, and ' +
        'whether it is healthy. The exit code is 1 when there is a ✗.',
    )
    .addHelpText(
      'after',
      `\nSettings and their defaults:\n${describeSettings()}${examples(['posthorn doctor', 'before the first start, or when it does not start'])}`,
    )
    .action(async () => {
      let bad = 0;
      let runs = false;
      for await (const finding of runChecks(terminal)) {
        const advice = 'advice' in finding ? `\n    ${finding.advice}` : '';
        terminal.out(`${MARKS[finding.kind]} ${finding.what}: ${finding.found}${advice}\n`);
        if (finding.kind === 'bad') bad += 1;
        if (finding.what === 'running') runs = true;
      }
      if (bad === 0) terminal.out(runs ? '\nPosthorn runs.\n' : '\nPosthorn can start.\n');
      else terminal.out(runs ? `\n${bad} to mend.\n` : `\n${bad} to mend before Posthorn can start.\n`);
      if (bad > 0) fail();
    });
}
