import { DEFAULT_URL } from './api-client.ts';

/** What a person must know for the other commands; nothing where the server is where they look by themselves. */
export function urlHint(url: string): string {
  return url === DEFAULT_URL
    ? ''
    : `In another terminal, before other commands of posthorn:\n  export POSTHORN_URL=${url}\nand POSTHORN_ADMIN_TOKEN, the token of the server.\n`;
}
