import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSecretBox } from '../signing/index.ts';
import type { Store } from '../store/index.ts';
import { createManualClock, type ManualClock } from '../testing/manual-clock.ts';
import { openTestStore } from '../testing/test-store.ts';
import { OpenSources } from './open-sources.ts';
import { createInboundRig, type InboundRig } from './testing/inbound-rig.ts';

describe('sources that are looked up', () => {
  const clock: ManualClock = createManualClock();
  let store: Store;
  let rig: InboundRig;
  let sources: OpenSources;
  let lookups: Promise<unknown>[];
  let id: string;

  beforeEach(async () => {
    store = await openTestStore();
    rig = await createInboundRig({ clock, store });
    const settings = { signingSecret: ['whsec_a'] };
    id = (await rig.resources.sources.create({ name: 'Stripe', provider: 'stripe', settings })).id;
    lookups = [];
    const counted: Store = {
      ...store,
      get(input) {
        const answer = store.get(input);
        lookups.push(answer);
        return answer;
      },
    };
    sources = new OpenSources({ store: counted, clock, secretBox: createSecretBox('a test key of enough length') });
  });
  afterEach(() => rig[Symbol.asyncDispose]());

  it('are read once for all who come at the same time', async () => {
    const found = await Promise.all(Array.from({ length: 100 }, () => sources.find(id)));
    expect(lookups).toHaveLength(1);
    expect(new Set(found.map((each) => each?.source.id))).toEqual(new Set([id]));
  });

  it('are read again before they are too old, so that nobody waits for it', async () => {
    await sources.find(id);
    await clock.advance(499);
    expect(sources.peek(id)).toBeDefined();
    expect(lookups).toHaveLength(1);
    await clock.advance(1);
    for (let i = 0; i < 10; i++) expect(sources.peek(id)).toBeDefined();
    expect(lookups).toHaveLength(2);
    await Promise.all(lookups);
    await clock.advance(600);
    expect(sources.peek(id)).toBeDefined();
    await clock.advance(2000);
    expect(sources.peek(id)).toBeUndefined();
  });

  it('are not kept as they were read before a change', async () => {
    const before = sources.find(id);
    sources.changed(id);
    await before;
    expect(sources.peek(id)).toBeUndefined();
    await rig.resources.sources.rotateSecret(id, { secret: 'whsec_b', dropOld: true });
    expect((await sources.find(id))?.secrets).toEqual(['whsec_b']);
    expect(sources.peek(id)?.secrets).toEqual(['whsec_b']);
  });
});
