import { Command, CommanderError } from 'commander';
import { configCommand } from './commands/config.ts';
import { deadLettersCommand } from './commands/dead-letters.ts';
import { devCommand } from './commands/dev.ts';
import { doctorCommand } from './commands/doctor.ts';
import { eventsCommand } from './commands/events.ts';
import { listenCommand } from './commands/listen.ts';
import { migrateCommand } from './commands/migrate.ts';
import { policyCommand } from './commands/policy.ts';
import { serveCommand } from './commands/serve.ts';
import { sourcesCommand } from './commands/sources.ts';
import { triggerCommand } from './commands/trigger.ts';
import { examples } from './examples.ts';
import { readPackageFile } from './package-file.ts';
import { reportError, USAGE_EXIT_CODE } from './report-error.ts';
import type { Terminal } from './terminal.ts';

/** Runs a command to its end and gives the exit code. */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode = 0;
  const fail = () => {
    exitCode = 1;
  };
  try {
    await createProgram(terminal, fail).parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    // Commander has said what is wrong itself, and help and version end in one, too.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_EXIT_CODE;
    return reportError(error, terminal);
  }
}

function createProgram(terminal: Terminal, fail: () => void): Command {
  const program = new Command('posthorn')
    .description('Webhooks that arrive: signed, retried on a policy that is plain data, dead-lettered, replayed.')
    .version(readPackageFile().version, '-v, --version', 'Print the version.')
    .helpOption('-h, --help', 'Explain a command, with examples.')
    .helpCommand('help [command]', 'Explain a command, with examples.')
    .addHelpText(
      'after',
      examples(
        ['posthorn dev', 'try it out: a server, an inbox, a first webhook by copy and paste'],
        ['posthorn serve', 'run it for real'],
        [
          'posthorn trigger stripe invoice.paid --to http://localhost:3000/webhooks',
          "try your app with Stripe's events",
        ],
        ['posthorn policy simulate public-api --outage 40m', 'see what a policy does before an endpoint does'],
        ['posthorn doctor', 'find out why it does not start'],
      ),
    );
  program.addCommand(serveCommand(terminal));
  program.addCommand(devCommand(terminal));
  program.addCommand(sourcesCommand(terminal));
  program.addCommand(triggerCommand(terminal, fail));
  program.addCommand(listenCommand(terminal));
  program.addCommand(eventsCommand(terminal));
  program.addCommand(deadLettersCommand(terminal, fail));
  program.addCommand(policyCommand(terminal));
  program.addCommand(migrateCommand(terminal));
  program.addCommand(doctorCommand(terminal, fail));
  program.addCommand(configCommand(terminal));
  for (const command of withSubcommands(program)) {
    command
      .exitOverride()
      .configureOutput({ writeOut: terminal.out, writeErr: terminal.err })
      .showHelpAfterError(`(${commandsOf(command)}${pathOf(command)} --help explains it)`);
  }
  return program;
}

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

/** Who asked for one that there is not sees which there are. */
function commandsOf({ commands }: Command): string {
  return commands.length === 0 ? '' : `there are ${commands.map((each) => each.name()).join(', ')}; `;
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
