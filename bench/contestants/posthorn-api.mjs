// Posthorn behind its HTTP API, on SQLite. The load generator (load.mjs) publishes; this process serves and delivers.
import { distUrl } from './dist-url.mjs';
import { createApplication, openPosthorn } from './open-posthorn.mjs';

export async function open(options) {
  const { createServer } = await import(distUrl(options.dist, 'api/index.js'));
  const posthorn = await openPosthorn(options);
  const application = await createApplication(posthorn, options.url);
  const { token } = await posthorn.tokens.create({ name: 'bench', scope: 'admin' });
  const server = createServer({ ...posthorn.served, logger: false });
  const apiUrl = await server.listen({ host: '127.0.0.1', port: 0 });
  return {
    address: { apiUrl, application, token },
    async close() {
      await server.close();
      await posthorn.close(0);
    },
  };
}
