/** What is wrong with a declared source, said of the arguments of source(): it has no body, and its name is its uid. */
import { type Issue, isPosthornError, PosthornError } from '../../errors.ts';
import { secretSetting } from '../../resources/index.ts';
import { findProvider } from '../providers/index.ts';

interface Call {
  readonly name: string;
  readonly provider?: string;
  readonly settings?: object;
}

/** The error itself where it is about none of them. */
export function inWordsOfCall(error: unknown, call: Call): unknown {
  if (!isPosthornError(error, 'validation') || error.issues.length === 0) return error;
  const issues = error.issues.map((issue) => ({ ...issue, loc: placeOf(issue.loc, call), msg: textOf(issue, call) }));
  const message = issues.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ');
  return new PosthornError('validation', message, { issues, cause: error });
}

function placeOf(loc: readonly string[], call: Call): readonly string[] {
  const [first, ...rest] = loc;
  if (first !== 'body') return loc;
  const [field, setting = '', ...deeper] = rest;
  if (field === 'uid') return ['name'];
  if (field === 'settings' && isGivenAsSecret(setting, call)) return ['secret', ...deeper];
  return rest;
}

function isGivenAsSecret(setting: string, { name, provider = name, settings = {} }: Call): boolean {
  if (setting in settings) return false;
  return setting === 'secret' || setting === secretSetting(findProvider(provider));
}

function textOf({ loc, msg }: Issue, { name, provider }: Call): string {
  if (loc.join('.') !== 'body.provider' || provider !== undefined) return msg;
  return `must be given where the name is not that of one: source(${JSON.stringify(name)}, { provider: 'stripe', … }); ${msg}`;
}
