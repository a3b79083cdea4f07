/** A server over a real in-memory store, for the tests of this room. */
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import { systemClock } from '../../clock.ts';
import { createIds } from '../../ids.ts';
import { createAddressGuard } from '../../outbound/index.ts';
import { type Context, createResources, type Resources } from '../../resources/index.ts';
import { createSecretBox } from '../../signing/index.ts';
import { openTestStore } from '../../testing/test-store.ts';
import { createServer, type ServerOptions } from '../server.ts';

export interface TestApi extends AsyncDisposable {
  readonly server: FastifyInstance;
  readonly context: Context;
  readonly resources: Resources;
  /** An admin's. */
  readonly token: string;
  /** What the engine was told. */
  readonly told: string[];
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<TestAnswer>;
}

export interface CallOptions {
  readonly token?: string;
  readonly headers?: Record<string, string>;
}

export interface TestAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
  readonly body: any;
  readonly headers: LightMyRequestResponse['headers'];
}

export async function createTestApi(
  options: Partial<Context> & Pick<ServerOptions, 'bodyLimitBytes'> = {},
): Promise<TestApi> {
  const { bodyLimitBytes, ...overrides } = options;
  const told: string[] = [];
  const context: Context = {
    store: overrides.store ?? (await openTestStore()),
    engine: {
      changed: (applicationId) => void told.push(`changed ${applicationId ?? 'all'}`),
      wake: () => void told.push('wake'),
      publish: () => Promise.reject(new Error('this engine does not publish')),
    },
    clock: systemClock,
    ids: createIds(() => systemClock.now()),
    guard: createAddressGuard({ allow: ['127.0.0.0/8'] }),
    secretBox: createSecretBox('a test key of enough length'),
    defaultPolicy: 'public-api',
    ...overrides,
  };
  const resources = createResources(context);
  const server = createServer({
    resources,
    store: context.store,
    clock: context.clock,
    logger: false,
    ...(bodyLimitBytes !== undefined && { bodyLimitBytes }),
  });
  const { token } = await resources.tokens.create({ name: 'test', scope: 'admin' });

  return {
    server,
    context,
    resources,
    token,
    told,
    async call(method, path, body, { token: as = token, headers = {} } = {}) {
      const answer = await server.inject({
        method: method as NonNullable<InjectOptions['method']>,
        url: path.startsWith('/') ? path : `/api/v1/${path}`,
        headers: { authorization: `Bearer ${as}`, ...headers },
        ...(body !== undefined && { payload: body as object }),
      });
      const text = answer.body;
      return { status: answer.statusCode, body: text === '' ? undefined : JSON.parse(text), headers: answer.headers };
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await context.store.close();
    },
  };
}
