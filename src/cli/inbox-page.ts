import type { Arrival } from './inbox.ts';

/** The inbox for a browser. It has no script; the browser asks again by itself. */
export function inboxPage(arrivals: readonly Arrival[]): string {
  const rows = arrivals.map(
    ({ at, eventType, messageId, verified, retry, body }) =>
      `<tr><td>${escapeHtml(at)}</td><td>${escapeHtml(eventType)}</td><td><code>${escapeHtml(messageId)}</code></td>` +
      `<td>${verified ? '✓' : '✗'}</td><td>${retry}</td><td><pre>${escapeHtml(body)}</pre></td></tr>`,
  );
  const table = `<table><tr><th>Arrived</th><th>Event type</th><th>Message</th><th>Signature</th><th>Retry</th><th>Body</th></tr>
${rows.join('\n')}
</table>`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="2">
<title>Posthorn inbox</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem }
table { border-collapse: collapse }
th, td { text-align: left; vertical-align: top; padding: .3rem .8rem; border-bottom: 1px solid #ccc }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere }
</style>
<h1>Inbox</h1>
${arrivals.length === 0 ? '<p>Nothing has arrived yet. Send a first webhook with the line that <code>posthorn dev</code> printed.</p>' : table}
</html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
