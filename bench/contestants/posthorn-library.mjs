// Posthorn in the publisher's own process, on SQLite or PostgreSQL: durable when publish resolves, every attempt recorded.
import { EVENT_TYPE, payload } from '../event.mjs';
import { createApplication, openPosthorn } from './open-posthorn.mjs';

export async function open({ silentUrl, ...options }) {
  const posthorn = await openPosthorn(options);
  const applications = {
    main: await createApplication(posthorn, options.url),
    silent: await createApplication(posthorn, silentUrl),
  };
  return {
    /** Posthorn gives the message its id, which is the webhook-id that arrives. */
    async publish(_id, to = 'main') {
      const { id } = await posthorn.publish({ application: applications[to], eventType: EVENT_TYPE, payload });
      return id;
    },
    close: () => posthorn.close(0),
  };
}
