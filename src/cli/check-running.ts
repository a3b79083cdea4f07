/** Whether the server that `posthorn doctor` is asked about is there already: what it has cannot be had twice. */
import { existsSync } from 'node:fs';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/index.ts';
import { describeError, isPosthornError } from '../errors.ts';
import { openSqliteStore } from '../store/sqlite/index.ts';
import { bad, type Finding, good } from './findings.ts';
import { reachableUrl } from './reachable-url.ts';

const PATIENCE_MS = 3000;

/** Undefined unless another process has the file and a Posthorn answers at the host and port. */
export async function checkRunning(config: Config, path: string, clock: Clock): Promise<Finding | undefined> {
  const { host, port } = config;
  const url = reachableUrl(host, port);
  if (port === 0 || !existsSync(path) || !(await isPosthorn(url, clock))) return undefined;
  const holder = await holderOf(path);
  if (holder === undefined) return undefined;
  const found = `Posthorn runs here already, with ${path} and on ${url}${holder}`;
  const trouble = await troubleOf(url, clock);
  if (trouble === undefined) return good('running', `${found}: healthy`);
  return bad('running', `${found}: not healthy`, `${trouble}. Its log says more.`);
}

async function isPosthorn(url: string, clock: Clock): Promise<boolean> {
  try {
    const { name } = JSON.parse((await get(url, clock)).body) as { name?: unknown };
    return name === 'Posthorn';
  } catch {
    return false;
  }
}

async function troubleOf(url: string, clock: Clock): Promise<string | undefined> {
  try {
    const { status } = await get(`${url}/health`, clock);
    return status === 200 ? undefined : `/health answers ${status}`;
  } catch (error) {
    return `/health does not answer: ${describeError(error)}`;
  }
}

/** Who has the file, as far as it says; undefined if nobody has. */
async function holderOf(path: string): Promise<string | undefined> {
  try {
    await (await openSqliteStore({ path, thread: false })).close();
    return undefined;
  } catch (error) {
    if (!isPosthornError(error, 'store_locked')) return undefined;
    const pid = /, process (\d+), since /.exec(error.message)?.[1];
    return pid === undefined ? '' : `, pid ${pid}`;
  }
}

async function get(url: string, clock: Clock): Promise<{ readonly status: number; readonly body: string }> {
  const impatience = new AbortController();
  const timer = clock.after(PATIENCE_MS, () => impatience.abort());
  try {
    const headers = { accept: 'application/json' };
    const answer = await fetch(url, { headers, redirect: 'error', signal: impatience.signal });
    return { status: answer.status, body: await answer.text() };
  } finally {
    timer.cancel();
  }
}
