import { expect, it } from 'vitest';
import { createTestApi } from '../api/testing/test-api.ts';
import { createIds } from '../ids.ts';
import { createManualClock } from '../testing/manual-clock.ts';
import { webhookHealth } from './webhook-health.ts';

it('SUB-07 SUB-10 says degraded, and why, when what came in is due for a quarter of an hour and nobody works it off', async () => {
  const clock = createManualClock(Date.parse('2026-01-01T00:00:00Z'));
  const ids = createIds(() => clock.now());
  await using api = await createTestApi({ clock, ids });
  const { store } = api.context;
  const { record } = await api.resources.applications.create({ name: 'A', uid: 'a' });
  const { id: destinationId } = await api.resources.endpoints.create('a', { url: 'http://127.0.0.1/' });
  const { epoch } = await store.join({ now: clock.now(), leaseMs: 1000, name: 'receives only' });
  const { fanoutRevision = 0 } = (await store.get({ kind: 'application', idOrName: record.id })) ?? {};
  const message = { id: ids.next('msg'), applicationId: record.id, eventType: 'e', payload: new Uint8Array(2) };
  const deliveries = [{ id: ids.next('dlv'), destinationId, state: 'pending' as const }];
  const items = [{ message: { ...message, createdAt: clock.now() }, fanoutRevision, deliveries }];
  await store.accept({ epoch, now: clock.now(), items });
  const health = () => webhookHealth(store, clock, () => {});
  await clock.advance(15 * 60_000);
  expect(await health()).toMatchObject({ status: 'healthy', webhooks: { overdue: 0 } });
  await clock.advance(1);
  expect(await health()).toMatchObject({ status: 'degraded', webhooks: { overdue: 1, without_handler: 0 } });
});
