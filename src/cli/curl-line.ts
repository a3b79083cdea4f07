/** One line for a POSIX shell that posts JSON as it stands. `authorization` is put in double quotes, so that it may name a variable. */
export function curlLine(url: string, authorization: string, body: unknown): string {
  const json = JSON.stringify(body).replaceAll("'", "'\\''");
  return `curl -X POST '${url}' -H "Authorization: Bearer ${authorization}" -H 'Content-Type: application/json' -d '${json}'`;
}
