/** The token that the first requests are made with. Only hashes are stored, so a generated one is seen when it is made. */
import { readFile, writeFile } from 'node:fs/promises';
import { type Config, parseStoreUrl } from '../config/index.ts';
import type { Posthorn } from '../posthorn.ts';

export type AdminToken =
  | { readonly from: 'configuration'; readonly token: string }
  /** Made just now, to be shown this once. */
  | { readonly from: 'first-start'; readonly token: string }
  /** Kept by `posthorn dev` beside the same database. */
  | { readonly from: 'dev'; readonly file: string }
  /** Known to whoever saw it when it was made. */
  | { readonly from: 'earlier-start' };

export async function adminToken({ config, tokens }: Posthorn): Promise<AdminToken> {
  if (config.adminToken !== undefined) return { from: 'configuration', token: config.adminToken };
  const kept = await keptDevToken({ config, tokens });
  if (kept !== undefined) return { from: 'dev', file: kept.file };
  const { data } = await tokens.list();
  if (data.some(({ scope }) => scope === 'admin')) return { from: 'earlier-start' };
  const { token } = await tokens.create({ name: 'made at the first start', scope: 'admin' });
  return { from: 'first-start', token };
}

export interface DevToken {
  readonly token: string;
  /** Where it is kept, if it is kept. */
  readonly file: string | undefined;
}

/**
 * For `posthorn dev`: the same token at every start, so that what was copied once goes on working. It is kept beside
 * the database, readable to its owner alone. In production nothing keeps it.
 */
export async function devToken({ config, tokens }: Posthorn): Promise<DevToken> {
  if (config.adminToken !== undefined) return { token: config.adminToken, file: undefined };
  const kept = await keptDevToken({ config, tokens });
  if (kept !== undefined) return kept;
  const file = devTokenFile(config);
  const { token } = await tokens.create({ name: 'posthorn dev', scope: 'admin' });
  if (file !== undefined) await writeFile(file, `${token}\n`, { mode: 0o600 });
  return { token, file };
}

/** What the file holds, if the store still takes it: a database may have been replaced beside an old file. */
async function keptDevToken({ config, tokens }: Pick<Posthorn, 'config' | 'tokens'>) {
  const file = devTokenFile(config);
  const token = file === undefined ? undefined : await readKept(file);
  if (file === undefined || token === undefined) return undefined;
  return (await tokens.authenticate(token))?.scope === 'admin' ? { token, file } : undefined;
}

function devTokenFile({ store }: Config): string | undefined {
  const location = parseStoreUrl(store);
  if (!('value' in location) || location.value.kind !== 'sqlite' || location.value.path === ':memory:')
    return undefined;
  return `${location.value.path}-dev-token`;
}

async function readKept(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch {
    return undefined;
  }
}
