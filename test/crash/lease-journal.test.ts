import { describe, expect, it } from 'vitest';
import { judge } from './lease-journal.ts';

type Changes = Parameters<typeof judge>;

/** Two nodes join; A is fenced at 5. */
const NODES: Changes[0] = [
  { seq: '1', epoch: '1', kind: 'joined', writer: 'A' },
  { seq: '2', epoch: '2', kind: 'joined', writer: 'B' },
  { seq: '5', epoch: '1', kind: 'fenced', writer: 'B' },
];

function change(seq: number, writer: string, from: string | null, to: string | null): Changes[1][number] {
  const state = (epoch: string | null) => (epoch === null ? 'pending' : 'leased');
  return {
    seq: String(seq),
    delivery_id: 'dlv_1',
    writer,
    old_epoch: from,
    new_epoch: to,
    old_state: state(from),
    new_state: state(to),
  };
}

describe('the lease journal', () => {
  it('finds nothing wrong with a lease, its record, and a take-over after the fence', () => {
    const found = judge(NODES, [
      change(3, 'A', null, '1'),
      change(4, 'A', '1', null),
      change(4.5, 'A', null, '1'),
      change(6, 'B', '1', '2'),
      change(7, 'B', '2', null),
    ]);
    expect(found).toMatchObject({ violations: [], fenced: 1, takeOvers: new Map([['dlv_1', 1]]) });
  });

  it('lets a late node record what nobody has taken over yet', () => {
    expect(judge(NODES, [change(3, 'A', null, '1'), change(6, 'A', '1', null)]).violations).toEqual([]);
  });

  it.each([
    ['a write under a lease that another has', change(8, 'A', '2', null), 'changed by A, leased to B'],
    ['a take-over without a fence', change(3, 'B', '1', '2'), 'was not fenced'],
    ['a lease under a fenced epoch', change(6, 'A', null, '1'), 'was fenced before'],
    ['a lease in the name of another', change(3, 'B', null, '1'), 'by B'],
  ])('finds %s', (_, wrong, said) => {
    expect(judge(NODES, [wrong]).violations).toEqual([expect.stringContaining(said)]);
  });
});
