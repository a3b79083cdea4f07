/** Payloads that are larger than memory wait in the store, whichever way they come. */
import { afterEach, expect, it } from 'vitest';
import { createEngineRig, type EngineRig } from '../testing/engine-rig.ts';
import { createManualClock } from '../testing/manual-clock.ts';
import { type ScriptedReceiver, startReceiver } from '../testing/scripted-receiver.ts';

const MB = 1024 * 1024;
const PAYLOAD = new Uint8Array(8 * MB).fill(0x20);
/** 64 MB, and the one that is taken while there is anything left of them. */
const MOST = 9;
const ALL = 12;

let rig: EngineRig;
let receiver: ScriptedReceiver;
let answers: (() => void)[] = [];

async function setUp(takesWork = true): Promise<void> {
  rig = await createEngineRig({ clock: createManualClock(), takesWork });
  answers = [];
  receiver = await startReceiver((response) => void answers.push(() => response.writeHead(200).end()));
}

afterEach(async () => {
  await rig.close();
  await receiver.close();
});

const publish = () => Promise.all(Array.from({ length: ALL }, () => rig.publish({}, { payload: PAYLOAD })));
const counts = () => rig.store.counts({ most: 100 });

async function answerAll(): Promise<void> {
  for (let sent = 0; sent < ALL; sent++) {
    await receiver.arrived(sent + 1);
    answers[sent]?.();
  }
  await rig.attempts(ALL);
}

it('leases no more of a backlog than it has memory for, and the rest as it gets free', async () => {
  await setUp();
  const { id } = await rig.endpoint(receiver.url);
  const setStatus = (status: 'paused' | 'active') =>
    rig.store.setStatus({ endpointId: id, status, reason: '', now: 0 }).then(() => rig.engine.changed());
  await setStatus('paused');
  await publish();
  await setStatus('active');
  rig.engine.wake();
  await receiver.arrived(4);
  expect((await counts()).leased).toBeLessThanOrEqual(MOST);
  await answerAll();
  expect(await counts()).toMatchObject({ pending: 0, leased: 0 });
});

it('hands over no more of what it accepts than it has memory for', async () => {
  await setUp();
  await rig.endpoint(receiver.url);
  await publish();
  expect((await counts()).leased).toBeLessThanOrEqual(MOST);
  await answerAll();
  expect(await counts()).toMatchObject({ pending: 0, leased: 0 });
});

it('works off what is due in rounds that fit into memory', async () => {
  await setUp(false);
  await rig.endpoint(receiver.url);
  await publish();
  const worked = rig.engine.workDue(100);
  await receiver.arrived(4);
  expect((await counts()).leased).toBeLessThanOrEqual(MOST);
  await answerAll();
  expect(await worked).toMatchObject({ claimed: ALL, delivered: ALL });
});
