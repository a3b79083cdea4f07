/** What belongs to the connection that it came over, or is written anew for the one that it goes out on. */
const NOT_PASSED_ON = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The headers that came with an event, as the flat list that goes out with it again. */
export function passedThrough(headers: Readonly<Record<string, string>>): string[] {
  const ofConnection = new Set(headers.connection?.toLowerCase().split(/[\s,]+/));
  return Object.entries(headers).flatMap(([name, value]) =>
    NOT_PASSED_ON.has(name) || ofConnection.has(name) ? [] : [name, value],
  );
}
