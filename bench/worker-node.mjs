// One worker of several on the same PostgreSQL: delivers what is there, and says at what cost.
import { answer } from './answer.mjs';
import { distUrl } from './contestants/dist-url.mjs';
import { IN_FLIGHT } from './contestants/in-flight.mjs';
import { ownUsage } from './usage.mjs';

let posthorn;

answer({
  async open({ dist, postgresUrl, role }) {
    const { createPosthorn } = await import(distUrl(dist, 'index.js'));
    posthorn = await createPosthorn({
      store: postgresUrl,
      role,
      allowNetworks: ['127.0.0.0/8'],
      endpointMaxInFlight: IN_FLIGHT,
      defaultPolicy: 'quick',
      logger: false,
    });
  },

  /** As many applications as that, each with an endpoint at `url`; answers their ids. */
  async prepare({ applications, url, secret }) {
    const ids = [];
    for (let index = 0; index < applications; index++) {
      const { record } = await posthorn.applications.create({ name: `bench ${index}` });
      await posthorn.endpoints.create(record.id, { url, secret });
      ids.push(record.id);
    }
    return ids;
  },

  async publish({ applications, events, eventType, payload }) {
    let next = 0;
    const publisher = async () => {
      while (next < events) {
        const application = applications[next++ % applications.length];
        await posthorn.publish({ application, eventType, payload });
      }
    };
    await Promise.all(Array.from({ length: 256 }, publisher));
  },

  usage: ownUsage,

  close: () => posthorn.close(0),
});
