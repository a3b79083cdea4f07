/** What commands read of a source. */
import type { SourceOut } from '../api/index.ts';

export type ShownSource = SourceOut;

/** Where it receives, for a person. */
export function shownUrl({ ingestUrl }: ShownSource): string {
  return ingestUrl ?? 'not shown: it has a token, and read-only tokens are not told secrets';
}

/** Where it receives as the server's own path, with the token that it may have. */
export function ownPath({ ingestUrl, uid, id }: ShownSource): string {
  const plain = `/in/${encodeURIComponent(uid ?? id)}`;
  return ingestUrl === null || ingestUrl.endsWith(plain) ? plain : plain + ingestUrl.slice(ingestUrl.lastIndexOf('/'));
}
