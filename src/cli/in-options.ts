/** What the API finds wrong with a source, in the words of who wrote a command line: its options, not the fields they fill. */
import { isPosthornError, PosthornError } from '../errors.ts';
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
  const said = error.issues.map((issue) => {
    const [, field, setting] = issue.loc;
    if (OPTIONS.includes(field)) return `--${field} ${issue.msg}`;
    if (provider === undefined || field !== 'settings' || setting === undefined) return describeIssue(issue);
    if (setting === secretSetting(provider, given)) return `--secret ${issue.msg}`;
    if (setting !== 'secret') return `--setting ${setting}=… ${issue.msg}`;
    return secretSetting(provider) === undefined ? withoutSecret(provider) : `--secret ${issue.msg}`;
  });
  throw new PosthornError('validation', said.join('; '), { cause: error });
}

function withoutSecret({ name, settings }: Provider): string {
  const out = `leave --secret and ${SECRET_VARIABLE} out`;
  const ways = Object.entries(settings).map(([setting, spec]) => ({
    ...spec,
    way: `--setting ${setting}=… (${spec.doc})`,
  }));
  const secrets = ways.filter(({ secret }) => secret).map(({ way }) => way);
  if (secrets.length > 0) return `${name} has several secrets: ${out}, and give ${secrets.join(', or ')}`;
  const required = ways.filter((each) => each.required).map(({ way }) => `, and give ${way}`);
  return `${name} has no secret: ${out}${required.join('')}`;
}
