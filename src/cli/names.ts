/** What people called owners and endpoints, where a list would show their ids. Each is asked for once. */
import { isPosthornError } from '../errors.ts';
import type { ApiClient } from './api-client.ts';

export interface Names {
  /** The uid or name of an application or source; the id of one that is deleted. */
  owner(id: string): Promise<string>;
  /** The uid and URL of an endpoint, or the name of a handler; the id of one that is deleted. */
  endpoint(ownerId: string, id: string): Promise<string>;
}

interface Named {
  readonly uid?: string | null;
  readonly name?: string;
  readonly url?: string;
}

const LONGEST_URL = 60;

export function createNames(client: ApiClient): Names {
  const asked = new Map<string, Promise<Named>>();

  /** A name is a convenience: what cannot be read, because it is gone or not this token's, goes by its id. */
  function ask(path: string): Promise<Named> {
    const before = asked.get(path);
    if (before !== undefined) return before;
    const answer = client.get<Named>(path).catch((error: unknown) => {
      if (isPosthornError(error)) return {};
      throw error;
    });
    asked.set(path, answer);
    return answer;
  }

  return {
    async owner(id) {
      const { uid, name } = await ask(id.startsWith('src_') ? `/ingest/api/v1/source/${id}` : `app/${id}`);
      return uid ?? name ?? id;
    },
    async endpoint(ownerId, id) {
      const { uid, url = '' } = await ask(`app/${ownerId}/endpoint/${id}`);
      if (uid?.startsWith('handler:')) return uid;
      const shown = url.length > LONGEST_URL ? `${url.slice(0, LONGEST_URL)}…` : url;
      return [uid, shown].filter(Boolean).join(' ') || id;
    },
  };
}

/** For one of them: with its id beside, which is what other commands take. */
export function withId(name: string, id: string): string {
  return name === id ? id : `${name} (${id})`;
}
