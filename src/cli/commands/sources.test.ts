import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openReceivingRig, type ReceivingRig } from '../testing/receiving-rig.ts';

describe('posthorn sources', { timeout: 60_000 }, () => {
  let rig: ReceivingRig;
  beforeAll(async () => {
    rig = await openReceivingRig();
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  it('ALL-06 says of a source that --if-missing keeps which of the options given it did not take', async () => {
    const made = await rig.run('sources create stripe --uid kept --secret whsec_first');
    const create = 'sources create stripe --uid kept --if-missing';
    const again = await rig.run(`${create} --secret whsec_other --policy quick --pass-through`);
    expect(again).toMatchObject({ exitCode: 0, out: made.out });
    expect(again.err).toBe(
      'kept was there already and is kept as it is: --secret, --policy, --pass-through were not taken. ' +
        '`posthorn sources rotate-secret kept --secret …` takes one.\n',
    );
    expect((await rig.run(`${create} --setting toleranceSeconds=60`)).err).toMatch(/: --setting was not taken\.\n$/);
    expect(await rig.run(`${create} --policy payments-inbound`)).toMatchObject({ out: made.out, err: '' });
    expect(await rig.run(create)).toMatchObject({ out: made.out, err: '' });
  });
});
