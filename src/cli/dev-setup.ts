/** What `posthorn dev` makes sure of, by way of its own API, as any client would. */
import type { FastifyInstance } from 'fastify';
import { PosthornError } from '../errors.ts';
import type { Inbox } from './inbox.ts';

export const DEV_APPLICATION = 'dev';
const INBOX_ENDPOINT = 'inbox';

interface EndpointOut {
  readonly id: string;
  readonly uid?: string | null;
  readonly url: string;
}

type Call = <T>(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) => Promise<T>;

/** An application with an endpoint that points at the inbox, and the endpoint's id. What exists is kept. */
export async function ensureInbox(server: FastifyInstance, token: string, url: string, inbox: Inbox): Promise<string> {
  const call = callOwnApi(server, token);
  await call('POST', '/app?get_if_exists=true', { name: 'Trying out', uid: DEV_APPLICATION });
  const endpoints = `/app/${DEV_APPLICATION}/endpoint`;
  const { data } = await call<{ data: EndpointOut[] }>('GET', `${endpoints}?limit=250`);
  const endpoint =
    data.find(({ uid }) => uid === INBOX_ENDPOINT) ??
    (await call<EndpointOut>('POST', endpoints, {
      uid: INBOX_ENDPOINT,
      url,
      description: 'The inbox of posthorn dev',
    }));
  if (endpoint.url !== url) await call('PATCH', `${endpoints}/${endpoint.id}`, { url });
  await inbox.open({
    secret: async () => (await call<{ key: string }>('GET', `${endpoints}/${endpoint.id}/secret`)).key,
    eventTypeOf: async (messageId) =>
      (await call<{ eventType: string }>('GET', `/app/${DEV_APPLICATION}/msg/${messageId}`)).eventType,
  });
  return endpoint.id;
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
      throw new PosthornError('not_ready', `The inbox needs an answer: ${method} ${path} says ${answer.body}`);
    }
    return answer.json();
  };
}
