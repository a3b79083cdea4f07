/** Finds the three signed headers in whatever a server hands over: Node's or anyone's record, or a Headers object. */
export type HeaderSource =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface SignedHeaders {
  readonly messageId: string;
  readonly timestamp: string;
  readonly signatures: string;
}

/** The trio under one family of names; ids and signatures of different families are never mixed. */
export function readSignedHeaders(source: HeaderSource): SignedHeaders | undefined {
  return readFamily(source, 'webhook') ?? readFamily(source, 'svix');
}

function readFamily(source: HeaderSource, family: 'webhook' | 'svix'): SignedHeaders | undefined {
  const messageId = readHeader(source, `${family}-id`);
  const timestamp = readHeader(source, `${family}-timestamp`);
  const signatures = readHeader(source, `${family}-signature`);
  return messageId && timestamp && signatures ? { messageId, timestamp, signatures } : undefined;
}

/** Repeated headers are joined as HTTP joins them: a list of signatures survives that, an id or a timestamp does not. */
function readHeader(source: HeaderSource, name: string): string | undefined {
  if (isHeaders(source)) return source.get(name) ?? undefined;
  const key = Object.hasOwn(source, name) ? name : Object.keys(source).find((other) => other.toLowerCase() === name);
  const value = key === undefined ? undefined : source[key];
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'string' ? value : undefined;
}

function isHeaders(source: HeaderSource): source is { get(name: string): string | null } {
  return 'get' in source && typeof source.get === 'function';
}
