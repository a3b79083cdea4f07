/** What `posthorn dev` makes sure of, by way of its own API, as any client would. */
import type { FastifyInstance } from 'fastify';
import { PosthornError } from '../errors.ts';
import type { Inbox } from './inbox.ts';

export const DEV_APPLICATION = 'dev';
const INBOX_ENDPOINT = 'inbox';

type Call = <T>(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) => Promise<T>;

/** An application with an endpoint that points at the inbox; the inbox learns its secret. What exists is kept. */
export async function ensureInbox(server: FastifyInstance, token: string, url: string, inbox: Inbox): Promise<void> {
  const call = callOwnApi(server, token);
  await call('POST', '/app?get_if_exists=true', { name: 'Trying out', uid: DEV_APPLICATION });
  const endpoints = `/app/${DEV_APPLICATION}/endpoint`;
  const { data } = await call<{ data: { uid?: string | null; url: string }[] }>('GET', `${endpoints}?limit=250`);
  const existing = data.find(({ uid }) => uid === INBOX_ENDPOINT);
  if (existing === undefined) {
    await call('POST', endpoints, { uid: INBOX_ENDPOINT, url, description: 'The inbox of posthorn dev' });
  } else if (existing.url !== url) {
    await call('PATCH', `${endpoints}/${INBOX_ENDPOINT}`, { url });
  }
  const { key } = await call<{ key: string }>('GET', `${endpoints}/${INBOX_ENDPOINT}/secret`);
  inbox.open(key, async (messageId) => {
    const { eventType } = await call<{ eventType: string }>('GET', `/app/${DEV_APPLICATION}/msg/${messageId}`);
    return eventType;
  });
}

function callOwnApi(server: FastifyInstance, token: string): Call {
  return async (method, path, body) => {
    const answer = await server.inject({
      method,
      url: `/api/v1${path}`,
      headers: { authorization: `Bearer ${token}` },
      ...(body && { payload: body }),
    });
    if (answer.statusCode >= 300) {
      throw new PosthornError('not_ready', `The inbox could not be set up: ${method} ${path} says ${answer.body}`);
    }
    return answer.json();
  };
}
