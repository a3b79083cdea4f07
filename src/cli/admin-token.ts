/** The token that the first requests are made with. Only hashes are stored, so a generated one is seen when it is made. */
import { readFile, writeFile } from 'node:fs/promises';
import { type Config, parseStoreUrl } from '../config/index.ts';
import type { Posthorn } from '../posthorn.ts';
import { makeToken } from '../resources/index.ts';

export type AdminToken =
  | { readonly from: 'configuration'; readonly token: string }
  /** Made just now, to be shown this once. */
  | { readonly from: 'first-start'; readonly token: string }
  /** Known to whoever saw it when it was made. */
  | { readonly from: 'earlier-start' };

export async function adminToken({ config, tokens }: Posthorn): Promise<AdminToken> {
  if (config.adminToken !== undefined) return { from: 'configuration', token: config.adminToken };
  const { data } = await tokens.list();
  if (data.some(({ scope }) => scope === 'admin')) return { from: 'earlier-start' };
  const { token } = await tokens.create({ name: 'made at the first start', scope: 'admin' });
  return { from: 'first-start', token };
}

export interface DevToken {
  readonly token: string;
  /** Where it can be had again: a file, or a variable. */
  readonly from: string | undefined;
}

const TOKEN = /^ph_[\w-]{30,}$/;

/**
 * For `posthorn dev`: the same token at every start, so that what was copied once goes on working. It is kept beside the
 * database, readable to its owner alone, and never in it: `posthorn serve` on the same database does not know it.
 */
export async function devToken(config: Config): Promise<DevToken> {
  if (config.adminToken !== undefined) return { token: config.adminToken, from: 'POSTHORN_ADMIN_TOKEN' };
  const file = devTokenFile(config);
  const kept = file === undefined ? undefined : await readKept(file);
  if (kept !== undefined) return { token: kept, from: file };
  const token = makeToken();
  return { token, from: file !== undefined && (await keep(file, token)) ? file : undefined };
}

function devTokenFile({ store }: Config): string | undefined {
  const location = parseStoreUrl(store);
  if (!('value' in location) || location.value.kind !== 'sqlite' || location.value.path === ':memory:')
    return undefined;
  return `${location.value.path}-dev-token`;
}

async function readKept(file: string): Promise<string | undefined> {
  try {
    const text = (await readFile(file, 'utf8')).trim();
    return TOKEN.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Where nothing can be written the store will not open either, and says better what is wrong. */
async function keep(file: string, token: string): Promise<boolean> {
  try {
    await writeFile(file, `${token}\n`, { mode: 0o600 });
    return true;
  } catch {
    return false;
  }
}
