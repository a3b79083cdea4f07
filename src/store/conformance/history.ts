import { expect } from 'vitest';
import { twinId } from '../../ids.ts';
import { type Decision, type Delivery, FINAL_STATES, isLegalTransition } from '../../model/index.ts';
import type { ClaimedDelivery } from '../store.ts';
import type { Step } from './histories.ts';
import { DELIVERED, ids, LEASE_MS, PLENTY, REJECTED, retryIn, type Scene, sorted, T0 } from './scene.ts';

interface Node {
  readonly epoch: number;
  expiresAt: number;
  fenced: boolean;
  /** Lanes that the store said have more for this node. */
  readonly lanes: Set<string>;
}

interface Lease {
  readonly delivery: ClaimedDelivery;
  /** As it was accepted: a success at once is kept with the delivery (first-success.ts). */
  readonly isHanded?: true;
  readonly epoch: number;
}

const FAIL: Decision = { kind: 'dead', cause: 'exhausted', reason: 'exhausted', endpoint: 'fail' };
const DECISIONS: readonly Decision[] = [
  DELIVERED,
  DELIVERED,
  retryIn(0),
  retryIn(100),
  retryIn(60_000),
  REJECTED,
  FAIL,
];
const FOREVER_MS = 1e9;

/**
 * A history of a store beside the little that is known for sure: who holds what, and what each delivery's state was a
 * step ago. After each step the store is read whole and compared.
 */
export class History {
  readonly #scene: Scene;
  readonly #nodes: Node[] = [];
  #endpoints: string[] = [];
  #now = T0;
  /** Every lease that was ever given out, newest last: late ones are tried too. */
  readonly #leases: Lease[] = [];
  /** Who holds each leased delivery. */
  readonly #holders = new Map<string, number>();
  #known = new Map<string, Delivery>();

  private constructor(scene: Scene) {
    this.#scene = scene;
    this.#nodes.push({ epoch: scene.epoch, expiresAt: T0 + LEASE_MS, fenced: false, lanes: new Set() });
  }

  static async begin(scene: Scene): Promise<History> {
    const history = new History(scene);
    history.#endpoints = await scene.endpoints(3);
    return history;
  }

  async take(step: Step): Promise<void> {
    await this.#do(step);
    await this.#check();
  }

  /**
   * Lets time pass until everything must have been handed out, and answers what was not. Either the nodes that live go
   * on by the rules, or all of them die and another one takes over.
   */
  async stranded(crash: boolean): Promise<string[]> {
    const { store } = this.#scene;
    await this.#scene.sweepAll(2, this.#now);
    this.#now += FOREVER_MS;
    if (!crash) for (const node of this.#nodes) await this.#heartbeat(node, FOREVER_MS);
    const heir = await this.#join(FOREVER_MS);
    await this.#takeOver(heir);
    await this.#check();
    for (const [id, epoch] of this.#holders) await store.release({ epoch, now: this.#now, ids: [id] });
    this.#holders.clear();
    for (let handedOut = -1; handedOut !== this.#leases.length; ) {
      handedOut = this.#leases.length;
      for (const node of this.#nodes) if (!node.fenced) await this.#claim(node, 2, 2, true);
      await this.#check();
    }
    await this.#checkAttempts();
    const waiting = await this.#scene.deliveries({ states: ['pending'] });
    return waiting.map(({ id, destinationId }) => `${id} of ${destinationId}`);
  }

  async #do(step: Step): Promise<void> {
    const { store } = this.#scene;
    switch (step.do) {
      case 'accept':
        return this.#accept(step);
      case 'claim':
        return this.#claim(this.#node(step.by), step.room, step.discover, step.named);
      case 'record':
        return this.#record(step);
      case 'release': {
        const lease = pick(this.#leases, step.which);
        if (lease === undefined) return;
        const { epoch } = step.by === 0 ? this.#node(step.which) : lease;
        await store.release({ epoch, now: this.#now, ids: [lease.delivery.id] });
        if (this.#holders.get(lease.delivery.id) === epoch) this.#holders.delete(lease.delivery.id);
        return;
      }
      case 'join':
        await this.#join(LEASE_MS);
        return;
      case 'heartbeat':
        return this.#heartbeat(this.#node(step.by), LEASE_MS);
      case 'leave': {
        const node = this.#node(step.by);
        await store.leave({ epoch: node.epoch });
        Object.assign(node, { fenced: true, expiresAt: 0 });
        return;
      }
      case 'takeOver':
        return this.#takeOver(this.#node(step.by));
      case 'pass':
        this.#now += step.ms;
        return;
      case 'setStatus': {
        const status = step.stop ? 'paused' : 'active';
        await store.setStatus({ endpointId: this.#endpoint(step.to), status, reason: 'why', now: this.#now });
        return;
      }
      case 'sweep':
        await store.sweep({ now: this.#now, limit: step.limit });
        return;
      case 'redeliver': {
        const chosen = pick([...this.#known.keys()], step.which);
        const select = { ids: chosen === undefined ? [] : [chosen] };
        await store.redeliver({ now: this.#now, select, from: ['delivered', 'dead', 'cancelled', 'held', 'pending'] });
        return;
      }
      case 'discard': {
        const chosen = pick([...this.#known.keys()], step.which);
        await store.discard({ now: this.#now, select: { ids: chosen === undefined ? [] : [chosen] }, reason: 'why' });
        return;
      }
      case 'remove':
        // Rarely: a history in which everything is deleted early says little.
        if (step.sure === 0) await store.remove({ kind: 'endpoint', id: this.#endpoint(step.to), now: this.#now });
        return;
    }
  }

  async #accept(step: Extract<Step, { do: 'accept' }>): Promise<void> {
    const node = this.#node(step.by);
    const wanted = step.wide ? this.#endpoints : [this.#endpoint(step.to)];
    const to: string[] = [];
    for (const id of wanted) if ((await this.#scene.health(id))?.status === 'active') to.push(id);
    const item = await this.#scene.item({ to, now: this.#now, state: step.leased ? 'leased' : 'pending' });
    const output = await this.#scene.store.accept({ epoch: node.epoch, now: this.#now, items: [item] });
    expect(output).toEqual({ fenced: node.fenced, results: [{ kind: 'accepted' }] });
    for (const { id } of item.deliveries) {
      const delivery = await this.#scene.delivery(id);
      this.#known.set(id, delivery);
      if (!step.leased || node.fenced) continue;
      const { message } = item;
      const handed = { ...delivery, firstAttemptAt: undefined, dueAt: this.#now, payload: message.payload };
      this.#lease(node, handed, true);
    }
  }

  async #claim(node: Node, room: number, discover: number, named: boolean): Promise<void> {
    const lanes = named ? [...node.lanes].map((destinationId) => ({ destinationId, room })) : [];
    const output = await this.#scene.claim({ epoch: node.epoch, now: this.#now, lanes, room, discover });
    expect(output.fenced).toBe(node.fenced);
    for (const delivery of output.deliveries) {
      expect(this.#holders.get(delivery.id), 'leased to somebody already').toBeUndefined();
      expect(delivery.dueAt).toBeLessThanOrEqual(this.#now);
      this.#lease(node, delivery);
    }
    for (const { destinationId, more } of output.lanes) {
      if (more) node.lanes.add(destinationId);
      else node.lanes.delete(destinationId);
    }
  }

  async #record(step: Extract<Step, { do: 'record' }>): Promise<void> {
    const held = this.#leases.filter(({ delivery, epoch }) => this.#holders.get(delivery.id) === epoch);
    const lease = pick(step.late ? this.#leases : held, step.which);
    if (lease === undefined) return;
    const { delivery, epoch } = lease;
    // A late lease may be one that was ended and given again to the same node: then it is good.
    const holds = this.#holders.get(delivery.id) === epoch;
    const current = this.#known.get(delivery.id) ?? delivery;
    const decision = pick(DECISIONS, step.what) ?? DELIVERED;
    const claimed = { ...delivery, attempts: current.attempts, scheduleAttempts: current.scheduleAttempts };
    const output = await this.#scene.record(claimed, decision, {
      epoch,
      startedAt: this.#now,
      durationMs: 1,
      ...(lease.isHanded && claimed.attempts === 0 && { id: twinId('atmpt', delivery.id) }),
    });
    expect(output.results).toEqual([holds ? 'recorded' : 'lease_lost']);
    if (holds) this.#holders.delete(delivery.id);
  }

  async #join(leaseMs: number): Promise<Node> {
    const epoch = await this.#scene.join(this.#now, leaseMs);
    const node: Node = { epoch, expiresAt: this.#now + leaseMs, fenced: false, lanes: new Set() };
    this.#nodes.push(node);
    return node;
  }

  async #heartbeat(node: Node, leaseMs: number): Promise<void> {
    const answer = await this.#scene.store.heartbeat({ epoch: node.epoch, now: this.#now, leaseMs });
    const others = this.#nodes.filter((each) => each !== node && !each.fenced && each.expiresAt > this.#now);
    const leads = others.every(({ epoch }) => epoch > node.epoch);
    const withOthers = leads ? 'leading' : 'alive';
    expect(answer).toBe(node.fenced ? 'fenced' : others.length === 0 ? 'alone' : withOthers);
    if (!node.fenced) node.expiresAt = this.#now + leaseMs;
  }

  async #takeOver(heir: Node): Promise<void> {
    const lost = this.#nodes.filter((node) => node !== heir && (node.fenced || node.expiresAt <= this.#now));
    const epochs = new Set(lost.map(({ epoch }) => epoch));
    const expected = heir.fenced ? [] : [...this.#holders].filter(([, epoch]) => epochs.has(epoch)).map(([id]) => id);
    const taken = await this.#scene.takeOver(heir.epoch, this.#now);
    expect(sorted(ids(taken))).toEqual(sorted(expected));
    if (heir.fenced) return;
    for (const node of lost) node.fenced = true;
    for (const delivery of taken) this.#lease(heir, delivery);
  }

  #lease(node: Node, delivery: ClaimedDelivery, isHanded?: true): void {
    this.#holders.set(delivery.id, node.epoch);
    this.#leases.push({ delivery, epoch: node.epoch, ...(isHanded && { isHanded }) });
  }

  async #check(): Promise<void> {
    const { store } = this.#scene;
    const page = await store.listDeliveries({ limit: PLENTY, order: 'ascending' });
    const deliveries = new Map(page.items.map((delivery) => [delivery.id, delivery]));
    expect([...deliveries.keys()], 'nothing accepted disappears').toEqual(sorted([...this.#known.keys()]));
    for (const [id, { state, dueAt }] of deliveries) {
      const before = this.#known.get(id)?.state ?? state;
      if (before !== state) expect(isLegalTransition(before, state), `${id}: ${before} → ${state}`).toBe(true);
      if (state === 'pending') expect(dueAt, `${id} is pending`).toBeDefined();
      if (FINAL_STATES.includes(state)) expect(dueAt, `${id} is ${state}`).toBeUndefined();
      expect(this.#holders.has(id), `${id} is ${state}`).toBe(state === 'leased');
    }
    this.#known = deliveries;
    expect(await store.counts({ most: PLENTY })).toMatchObject(recount(page.items));
  }

  /** At the end of a history: its attempts are all there, numbered from 1 on. */
  async #checkAttempts(): Promise<void> {
    const numbers = new Map<string, number[]>();
    const { items } = await this.#scene.store.listAttempts({ limit: PLENTY, order: 'ascending' });
    for (const { deliveryId, number } of items) numbers.set(deliveryId, [...(numbers.get(deliveryId) ?? []), number]);
    for (const { id, attempts } of this.#known.values()) {
      const found = (numbers.get(id) ?? []).toSorted((a, b) => a - b);
      expect(found, `the attempts of ${id}`).toEqual(Array.from({ length: attempts }, (_, n) => n + 1));
    }
  }

  #node(by: number): Node {
    const node = pick(this.#nodes, by);
    if (node === undefined) throw new Error('a history begins with a node');
    return node;
  }

  #endpoint(to: number): string {
    return pick(this.#endpoints, to) ?? '';
  }
}

function recount(deliveries: readonly Delivery[]) {
  const count = (state: Delivery['state']) => deliveries.filter((each) => each.state === state).length;
  return {
    pending: count('pending'),
    leased: count('leased'),
    held: count('held'),
    dead: count('dead'),
  };
}

function pick<T>(list: readonly T[], choice: number): T | undefined {
  return list[choice % Math.max(list.length, 1)];
}
