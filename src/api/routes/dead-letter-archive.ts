import { Readable } from 'node:stream';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { RouteGroup } from '../api.ts';
import { DeadLetterArchiveQuery, RestoredOut } from '../contract-dead-letter.ts';
import { readFilter } from '../dead-letter-query.ts';
import { reachOf } from './delivery.ts';

const tags = ['Dead Letter'];
const NDJSON = 'application/x-ndjson';
/** A line has a message's whole body and its attempts; a client sends an archive in requests of a megabyte or so. */
const RESTORE_LIMIT_BYTES = 64 * 1024 * 1024;

/** Archives out, as a stream of lines, and back in. */
export const deadLetterArchiveRoutes: RouteGroup = (api, served) => {
  // In a scope of their own: no other route takes bodies of this type.
  void api.register(async (scope) => registerRoutes(scope.withTypeProvider<TypeBoxTypeProvider>(), served));
};

const registerRoutes: RouteGroup = (api, { resources: { deadLetters, applications } }) => {
  api.addContentTypeParser<Buffer>(NDJSON, { parseAs: 'buffer' }, (request, body, done) => {
    request.rawBody = body;
    done(null, body.toString('utf8'));
  });

  api.get(
    '/dead-letter/archive',
    {
      config: { access: 'application' },
      schema: {
        tags,
        operationId: 'v1.dead-letter.archive',
        summary: 'All dead letters that match, oldest first, one line of JSON each',
        description:
          'With body, headers and attempts: everything that v1.dead-letter.restore needs. They stay where they are.',
        querystring: DeadLetterArchiveQuery,
        produces: [NDJSON],
        response: { 200: Type.Unsafe<Readable>({ type: 'string' }) },
      },
    },
    async (request, reply) => {
      const reach = await reachOf(request, applications, request.query.application);
      const lines = deadLetters.archive({ ...readFilter(request.query), ...reach });
      // The first one now: what is wrong with the filter is still an answer, not a broken stream.
      const first = await lines.next();
      return reply.type(NDJSON).send(Readable.from(withLineFeeds(first, lines)));
    },
  );

  api.post(
    '/dead-letter/restore',
    {
      bodyLimit: RESTORE_LIMIT_BYTES,
      config: { needsBody: true },
      schema: {
        tags,
        operationId: 'v1.dead-letter.restore',
        summary: 'Bring dead letters back from the lines of an archive',
        description: 'In one transaction; a wrong line and nothing is done. What is there already stays as it is.',
        consumes: [NDJSON],
        body: Type.String({ description: 'Lines of an archive.' }),
        response: { 200: RestoredOut },
      },
    },
    async ({ body }) => deadLetters.restore(body.split('\n')),
  );
};

async function* withLineFeeds(first: IteratorResult<string>, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  if (first.done) return;
  yield `${first.value}\n`;
  for await (const line of rest) yield `${line}\n`;
}
