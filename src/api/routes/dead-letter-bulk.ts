import type { FastifyRequest } from 'fastify';
import { invalid } from '../../errors.ts';
import type { DeadLetterSelection, Part, Taken } from '../../resources/index.ts';
import type { RouteGroup } from '../api.ts';
import { DiscardAllIn, PurgedOut, PurgeIn, RetryAllIn, TakenOut } from '../contract-dead-letter.ts';
import { readSelection } from '../dead-letter-query.ts';
import { reachOf } from './delivery.ts';

const tags = ['Dead Letter'];
const config = { access: 'application' } as const;

interface PartIn {
  readonly limit?: number;
  readonly iterator?: string | null;
}

/** What is done to many dead letters at once: all that match, or a part at a time. */
export const deadLetterBulkRoutes: RouteGroup = (api, { resources: { deadLetters, applications } }) => {
  /** Where the token is of one application, all are all of that. */
  async function reach(request: FastifyRequest, selection: DeadLetterSelection): Promise<DeadLetterSelection> {
    const { application } = await reachOf(request, applications, selection.application);
    if (application === undefined) return selection;
    const { all: _, ...fields } = selection;
    return { ...fields, application };
  }

  api.post(
    '/dead-letter/retry',
    {
      config: { ...config, needsBody: true },
      schema: {
        tags,
        operationId: 'v1.dead-letter.retry-all',
        summary: 'Send all dead letters again that match; with {"all": true}, all',
        description: 'With a limit, only so many: call again with the iterator until it is done.',
        body: RetryAllIn,
        response: { 202: TakenOut },
      },
    },
    async (request, reply) => {
      const { limit, iterator, ...fields } = request.body;
      const selection = readSelection(fields, ['body']);
      const reached = await reach(request, selection);
      const part = readPart({ ...(limit !== undefined && { limit }), ...(iterator !== undefined && { iterator }) });
      return reply.code(202).send(await take(reached, part, deadLetters.retryPart, deadLetters.retryAll));
    },
  );

  api.post(
    '/dead-letter/discard',
    {
      config,
      schema: {
        tags,
        operationId: 'v1.dead-letter.discard-all',
        summary: 'Give all dead letters up that match the filter; with {"all": true}, all',
        description: 'With a limit, only so many: call again with the iterator until it is done.',
        body: DiscardAllIn,
        response: { 200: TakenOut },
      },
    },
    async (request) => {
      const { filter, reason, limit, iterator } = request.body;
      const selection = readSelection(filter, ['body', 'filter']);
      const reached = await reach(request, selection);
      const part = readPart({ ...(limit !== undefined && { limit }), ...(iterator !== undefined && { iterator }) });
      return take(
        reached,
        part,
        (of, some) => deadLetters.discardPart(of, some, reason),
        (of) => deadLetters.discardAll(of, reason),
      );
    },
  );

  api.post(
    '/dead-letter/purge',
    {
      schema: {
        tags,
        operationId: 'v1.dead-letter.purge',
        summary: 'Delete dead letters for good, with their attempts: archive them first',
        body: PurgeIn,
        response: { 200: PurgedOut },
      },
    },
    async ({ body: { ids, letters } }) => {
      const named = letters ?? ids;
      if (named === undefined || (letters !== undefined && ids !== undefined)) {
        throw invalid(['body'], 'must have ids, or letters with the updatedAt of each, and not both');
      }
      const { count, kept } = await deadLetters.purge(named);
      return { count, kept: [...kept] };
    },
  );
};

/** Undefined when all are meant. */
function readPart({ limit, iterator }: PartIn): Part | undefined {
  if (limit === undefined) {
    if (iterator == null) return undefined;
    throw invalid(['body', 'iterator'], 'goes with a limit; without one, all are taken');
  }
  return { limit, ...(iterator != null && { iterator }) };
}

async function take(
  selection: DeadLetterSelection,
  part: Part | undefined,
  some: (selection: DeadLetterSelection, part: Part) => Promise<Taken>,
  all: (selection: DeadLetterSelection) => Promise<number>,
): Promise<TakenOut> {
  // What is named by id is one part by itself, and each of them is accounted for.
  if (part !== undefined || selection.ids !== undefined) {
    const taken = await some(selection, part ?? {});
    return { ...taken, notDead: [...taken.notDead] };
  }
  return { count: await all(selection), skipped: 0, withoutEndpoint: 0, notDead: [], iterator: null, done: true };
}
