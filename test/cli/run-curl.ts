import { execFileSync, spawnSync } from 'node:child_process';

/** Runs a printed line as a person would paste it, and gives the JSON that came back. */
export async function runCurl(line: string, env: Record<string, string> = {}): Promise<Record<string, unknown>> {
  if (spawnSync('curl', ['--version']).status === 0) {
    const out = execFileSync('sh', ['-c', line], {
      env: { PATH: process.env.PATH, ...env },
      encoding: 'utf8',
      stdio: 'pipe',
    });
    return JSON.parse(out);
  }
  // No curl on this machine: the same request, read out of the line.
  const [, url = '', authorization = '', body = ''] =
    /^curl -X POST '([^']+)' -H "Authorization: ([^"]+)" -H 'Content-Type: application\/json' -d '(.*)'$/.exec(line) ??
    [];
  const headers = {
    authorization: authorization.replace(/\$(\w+)/, (_, name: string) => env[name] ?? ''),
    'content-type': 'application/json',
  };
  const answer = await fetch(url, { method: 'POST', headers, body });
  return (await answer.json()) as Record<string, unknown>;
}
