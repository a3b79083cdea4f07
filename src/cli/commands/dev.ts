import { isIP } from 'node:net';
import { Command } from 'commander';
import { type Environment, loadConfig } from '../../config/index.ts';
import { type DevToken, devToken } from '../admin-token.ts';
import { curlLine } from '../curl-line.ts';
import { DevEvents } from '../dev-events.ts';
import { DEV_APPLICATION, ensureInbox } from '../dev-setup.ts';
import { examples } from '../examples.ts';
import { Inbox } from '../inbox.ts';
import { inboxLine } from '../inbox-line.ts';
import { inboxRoutes } from '../inbox-routes.ts';
import { readPackageFile } from '../package-file.ts';
import type { Running } from '../run-server.ts';
import { type ServerFlags, settingsHelp, withServerOptions } from '../server-options.ts';
import type { Terminal } from '../terminal.ts';
import { urlHint } from '../url-hint.ts';

const TRYING_SECRET = 'whsec_test';
const LOOPBACK = ['127.0.0.0/8', '::1/128'];

export function devCommand(terminal: Terminal): Command {
  return withServerOptions(new Command('dev'))
    .summary('run the server for trying out, with an inbox')
    .description(
      'Run the server for trying out: endpoints on this machine are allowed, and a built-in inbox shows what arrived, ' +
        'so that a first webhook needs no second program.',
    )
    .addHelpText(
      'after',
      settingsHelp() +
        examples(
          ['posthorn dev', 'then copy the curl line that it prints'],
          ['posthorn dev --store sqlite::memory: --port 0', 'leave nothing behind'],
        ),
    )
    .action(async (flags: ServerFlags) => {
      const inbox = new Inbox(terminal.clock, (arrival) => terminal.out(inboxLine(arrival)));
      const events = new DevEvents(terminal);
      // Loaded here, so that the small commands do not wait for a server that they never start.
      const { runServer } = await import('../run-server.ts');
      const config = devConfig(terminal.env, flags);
      const token = await devToken(config);
      await runServer({
        config: { ...config, adminToken: token.token },
        terminal,
        // Who sets a level wants the log as it is in production.
        ...(!terminal.env.POSTHORN_LOG_LEVEL && { screen: events }),
        extend: ({ server }) => inboxRoutes(server, inbox),
        announce: async (running, url) => events.open(await announce(running, url, token, inbox, terminal)),
      });
    });
}

/** Loopback is let through beside whatever else is, and the terminal is the inbox's: only warnings are logged into it. */
function devConfig(env: Environment, flags: ServerFlags) {
  const config = loadConfig({ env, overrides: flags });
  const logLevel = env.POSTHORN_LOG_LEVEL ? config.logLevel : 'warn';
  // The inbox is reached at the address that the server listens on, whichever that is.
  const own = isIP(config.host) === 0 ? [] : [config.host];
  const allowNetworks = [...new Set([...LOOPBACK, ...own, ...config.allowNetworks])];
  return loadConfig({ env, overrides: { ...flags, logLevel, allowNetworks } });
}

/** Opens the inbox and says where everything is; gives the id of the inbox's endpoint. */
async function announce(
  { posthorn, server }: Running,
  url: string,
  { token, from }: DevToken,
  inbox: Inbox,
  terminal: Terminal,
): Promise<string> {
  const inboxId = await ensureInbox(server, token, `${url}/inbox`, inbox);
  const hello = { eventType: 'hello.world', payload: { message: 'It arrived.' } };
  terminal.out(
    [
      `Posthorn ${readPackageFile().version} for trying out: endpoints on this machine are allowed (\`posthorn serve\` allows none).`,
      `  API    ${url}/api/v1  (${posthorn.config.store})`,
      `  Inbox  ${url}/inbox  shows what arrives for the application "${DEV_APPLICATION}"`,
      `  Token  ${token}${from === undefined ? '' : `  (admin; from ${from})`}`,
      '',
      'Send a first webhook, from another terminal:',
      `  ${curlLine(`${url}/api/v1/app/${DEV_APPLICATION}/msg`, token, hello)}`,
      '',
      'Take one in, as Stripe would send it: makes a source with a secret for trying out, and sends it a signed event:',
      `  ${receivingLine(url, token)}`,
      '',
      ...[urlHint(url)].filter((hint) => hint !== ''),
      'What comes in and goes out is shown here. Ctrl-C stops.',
      '',
    ].join('\n'),
  );
  return inboxId;
}

/** No source is there by itself: one that anybody can send to would stay in the database for `posthorn serve`. */
function receivingLine(url: string, token: string): string {
  const create = `npx posthorn sources create stripe --secret ${TRYING_SECRET} --if-missing --url ${url} --token ${token}`;
  return `${create} && npx posthorn trigger stripe invoice.paid --secret ${TRYING_SECRET} --url ${url} --token ${token}`;
}
