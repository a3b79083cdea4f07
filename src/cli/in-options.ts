/** What the API finds wrong with a source, in the words of who wrote a command line: its options, not the fields they fill. */
import { type Issue, isPosthornError, PosthornError } from '../errors.ts';
import type { Provider } from '../inbound/providers/index.ts';
import { describeIssue } from './api-client.ts';
import { SECRET_VARIABLE, type SettingFlags } from './provider-settings.ts';

const OPTIONS: readonly (string | undefined)[] = ['uid', 'name', 'policy'];

export async function throwInOptions(providerName: string, flags: SettingFlags, error: unknown): Promise<never> {
  if (!isPosthornError(error, 'validation') || error.issues.length === 0) throw error;
  // Loaded here, so that what goes well does not wait for all the rules.
  const { PROVIDERS } = await import('../inbound/providers/index.ts');
  const { secretSetting } = await import('../resources/index.ts');
  const provider = PROVIDERS.find(({ name, aliases }) => name === providerName || aliases.includes(providerName));
  const given = (flags.setting ?? []).map((each) => each.replace(/=.*/s, ''));
  const secret = provider && secretSetting(provider, given);
  const said = error.issues.map((issue) => {
    const [, field, setting] = issue.loc;
    if (OPTIONS.includes(field)) return `--${field} ${issue.msg}`;
    if (provider === undefined || field !== 'settings' || setting === undefined) return describeIssue(issue);
    return ofSetting(provider, setting, issue, secret);
  });
  throw new PosthornError('validation', said.join('; '), { cause: error });
}

function ofSetting(provider: Provider, setting: string, { msg }: Issue, secret: string | undefined): string {
  if (setting === secret) return `--secret ${msg}`;
  if (setting === 'secret' && secret === undefined) return withoutSecret(provider);
  return `--setting ${setting}=… ${msg}`;
}

function withoutSecret({ name, settings }: Provider): string {
  const required = Object.entries(settings).filter(([, spec]) => spec.required);
  const instead = required.map(([setting, { doc }]) => `, and give --setting ${setting}=… (${doc})`);
  return `${name} has no secret: leave --secret and ${SECRET_VARIABLE} out${instead.join('')}`;
}
