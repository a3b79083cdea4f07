import { Command } from 'commander';
import { loadConfig } from '../../config/index.ts';
import { type AdminToken, adminToken } from '../admin-token.ts';
import { curlLine } from '../curl-line.ts';
import { examples } from '../examples.ts';
import { readPackageFile } from '../package-file.ts';
import { type ServerFlags, settingsHelp, withServerOptions } from '../server-options.ts';
import type { Terminal } from '../terminal.ts';
import { urlHint } from '../url-hint.ts';

export function serveCommand(terminal: Terminal): Command {
  return withServerOptions(new Command('serve'))
    .summary('run the server')
    .description(
      'Run the server. Endpoints at private addresses are refused unless POSTHORN_ALLOW_NETWORKS lists their network. ' +
        'SIGTERM or Ctrl-C finishes what is under way and ends with 0; a second one ends at once.',
    )
    .addHelpText(
      'after',
      settingsHelp() +
        examples(
          ['posthorn serve', 'on 127.0.0.1:8420, with ./posthorn.db'],
          ['posthorn serve --host 0.0.0.0 --store sqlite:/var/lib/posthorn/posthorn.db', 'for other machines'],
          ['POSTHORN_ADMIN_TOKEN=$(openssl rand -hex 32) posthorn serve', 'with a token of your own'],
        ),
    )
    .option('--role <role>', 'what this node does: all, api or worker (POSTHORN_ROLE)')
    .action(async (flags: ServerFlags) => {
      // Loaded here, so that the small commands do not wait for a server that they never start.
      const { runServer } = await import('../run-server.ts');
      await runServer({
        config: loadConfig({ env: terminal.env, overrides: flags }),
        terminal,
        announce: async ({ posthorn }, url) => {
          const { role, store } = posthorn.config;
          if (role === 'worker') {
            terminal.out(`Posthorn ${readPackageFile().version} works on ${store} and answers ${url}/health\n`);
            return;
          }
          const token = await adminToken(posthorn);
          terminal.out(`Posthorn ${readPackageFile().version} serves ${url} (${store})\n`);
          terminal.out(describeToken(token, url) + urlHint(url));
        },
      });
    });
}

function describeToken(token: AdminToken, url: string): string {
  if (token.from === 'earlier-start') {
    return 'Admin token: the one printed at the first start. If it is lost, set POSTHORN_ADMIN_TOKEN.\n';
  }
  const generated = token.from === 'first-start';
  const line = generated ? `Admin token, shown this once: ${token.token}` : 'Admin token: POSTHORN_ADMIN_TOKEN';
  const bearer = generated ? token.token : '$POSTHORN_ADMIN_TOKEN';
  return `${line}\nCreate a first application:\n  ${curlLine(`${url}/api/v1/app`, bearer, { name: 'My first customer' })}\n`;
}
