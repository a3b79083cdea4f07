/** The stripe-subscriptions service in this process, in virtual time. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createService, type Service, type ServiceOptions } from '../../examples/stripe-subscriptions/service.ts';
import { accountOf, saveUser } from '../../examples/stripe-subscriptions/subscriptions.ts';
import { createManualClock, type ManualClock } from '../../src/testing/manual-clock.ts';
import { STRIPE_SECRET, signedRequest } from './stripe-events.ts';
import { until } from './until.ts';

export interface ServiceRig extends AsyncDisposable {
  readonly service: Service;
  readonly clock: ManualClock;
  readonly folder: string;
  readonly url: string;
  readonly log: { level: string; message: string; fields: Record<string, unknown> }[];
  /** Sends an event and gives the status of the answer. */
  send(event: object, secret?: string): Promise<number>;
  /** Resolves when so many attempts have been recorded in all. */
  attempts(count: number): Promise<void>;
  account(): ReturnType<typeof accountOf>;
  health(): Promise<{ pending_retries: number; dlq_items: number }>;
}

/** With a user u1, the customer cus_1. */
export async function openService(options: Partial<ServiceOptions> = {}): Promise<ServiceRig> {
  const clock = createManualClock();
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-subscriptions-'));
  const log: ServiceRig['log'] = [];
  const keep = (level: string) => (fields: object, message: string) =>
    void log.push({ level, message, fields: { ...fields } });
  const logger = { debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') };
  const service = await createService({
    stripeSecret: STRIPE_SECRET,
    database: folder,
    operatorToken: 'secret',
    clock,
    logger,
    ...options,
  });
  let recorded = 0;
  service.hooks.on(({ kind }) => {
    if (kind === 'attempt') recorded++;
  });
  await saveUser(service.database, { id: 'u1', email: 'jenny@example.com', stripe_customer_id: 'cus_1' });
  service.server.listen(0, '127.0.0.1');
  await once(service.server, 'listening');
  const url = `http://127.0.0.1:${(service.server.address() as AddressInfo).port}`;
  return {
    service,
    clock,
    folder,
    url,
    log,
    send: async (event, secret) =>
      (await fetch(`${url}/webhooks/stripe`, signedRequest(event, clock.now(), secret))).status,
    attempts: (count) => until(clock, () => recorded >= count),
    account: () => accountOf(service.database, 'u1'),
    async health() {
      const answer = await fetch(`${url}/health/webhooks`);
      const { webhooks } = (await answer.json()) as { webhooks: { pending_retries: number; dlq_items: number } };
      return webhooks;
    },
    async [Symbol.asyncDispose]() {
      await service.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
