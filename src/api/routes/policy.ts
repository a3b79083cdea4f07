import { Type } from 'typebox';
import type { PolicyView } from '../../resources/index.ts';
import type { RouteGroup } from '../api.ts';
import {
  ListOf,
  NamedPolicyIn,
  NamedPolicyOut,
  NamedPolicyUpdate,
  NamePath,
  PageQuery,
  SimulateIn,
  SimulateOut,
} from '../contract.ts';
import { remembering } from '../idempotency.ts';
import { listOut, timeOrNull } from '../wire.ts';

const tags = ['Policy'];
const config = { access: 'application' } as const;

export const policyRoutes: RouteGroup = (api, { resources: { policies } }) => {
  api.get(
    '/policy',
    {
      config,
      schema: {
        tags,
        operationId: 'v1.policy.list',
        summary: 'List presets and stored policies by name',
        querystring: Type.Object(PageQuery),
        response: { 200: ListOf(NamedPolicyOut) },
      },
    },
    async ({ query }) => listOut(await policies.list(query), policyOut),
  );

  api.post(
    '/policy',
    {
      config: { remembersInCommit: true },
      schema: {
        tags,
        operationId: 'v1.policy.create',
        summary: 'Store a policy under a name',
        body: NamedPolicyIn,
        response: { 201: NamedPolicyOut },
      },
    },
    async (request, reply) => {
      const made = await policies.create(request.body, { remember: remembering(request, 201, policyOut) });
      return reply.code(201).send(policyOut(made));
    },
  );

  api.get(
    '/policy/:name',
    {
      config,
      schema: {
        tags,
        operationId: 'v1.policy.get',
        summary: 'Get a preset or stored policy',
        params: NamePath,
        response: { 200: NamedPolicyOut },
      },
    },
    async ({ params }) => policyOut(await policies.get(params.name)),
  );

  api.put(
    '/policy/:name',
    {
      schema: {
        tags,
        operationId: 'v1.policy.update',
        summary: 'Replace a stored policy, or store one',
        params: NamePath,
        body: NamedPolicyUpdate,
        response: { 200: NamedPolicyOut, 201: NamedPolicyOut },
      },
    },
    async ({ params, body }, reply) => {
      const { record, created } = await policies.update(params.name, body);
      return reply.code(created ? 201 : 200).send(policyOut(record));
    },
  );

  api.delete(
    '/policy/:name',
    {
      schema: {
        tags,
        operationId: 'v1.policy.delete',
        summary: 'Delete a stored policy that nobody uses',
        params: NamePath,
        response: { 204: Type.Null() },
      },
    },
    async ({ params }, reply) => {
      await policies.delete(params.name);
      return reply.code(204).send(null);
    },
  );

  api.post(
    '/policy/simulate',
    {
      config: { access: 'application', readsOnly: true },
      schema: {
        tags,
        operationId: 'v1.policy.simulate',
        summary: 'When attempts would be made if an endpoint were down for a while',
        body: SimulateIn,
        response: { 200: SimulateOut },
      },
    },
    async ({ body }) => policies.simulate(body),
  );
};

function policyOut({ name, description, preset, policy, createdAt, updatedAt }: PolicyView): NamedPolicyOut {
  return { name, description, preset, policy, createdAt: timeOrNull(createdAt), updatedAt: timeOrNull(updatedAt) };
}
