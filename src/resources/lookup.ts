/** Records by whatever the caller has: an id, a uid, or a publisher's event id. Not found is an error that says so. */
import type { Application, Message, Source } from '../model/index.ts';
import type { Store, Stored } from '../store/index.ts';
import { textArgument } from './argument.ts';
import { missing } from './missing.ts';

/** An application by its id or uid, or a source by its id: what is received is looked at as what is sent is. */
export async function findApplication(
  store: Store,
  idOrUid: string,
): Promise<Pick<Application | Source, 'id' | 'policy'>> {
  const idOrName = textArgument(idOrUid, 'application');
  const source = idOrName.startsWith('src_') ? await store.get({ kind: 'source', idOrName }) : undefined;
  const stored = source ?? (await store.get({ kind: 'application', idOrName }));
  if (stored === undefined) throw missing('application', idOrUid, await ofSource(store, idOrName));
  return stored.record;
}

/** For who has a source's uid: that of an application may be the same, so that it is not taken. */
async function ofSource(store: Store, idOrName: string): Promise<string | undefined> {
  const source = await store.get({ kind: 'source', idOrName });
  return source && `the source of that name is meant by its id, ${source.record.id}`;
}

export async function findEndpoint(store: Store, applicationId: string, idOrUid: string): Promise<Stored<'endpoint'>> {
  const idOrName = textArgument(idOrUid, 'endpoint');
  const stored = await store.get({ kind: 'endpoint', idOrName, parentId: applicationId });
  if (stored === undefined) throw missing('endpoint', idOrUid);
  return stored;
}

export async function findMessage(store: Store, applicationId: string, idOrEventId: string): Promise<Message> {
  const message = await store.getMessage({ applicationId, id: textArgument(idOrEventId, 'message') });
  if (message === undefined) throw missing('message', idOrEventId);
  return message;
}
