/** The engine put together: accept → lanes → worker → record, with the duties around them. */
import { type Clock, sleep } from '../clock.ts';
import { byStore, type Dispatch, type Work } from '../dispatch/index.ts';
import { closed, invalid, PosthornError } from '../errors.ts';
import type { Ids } from '../ids.ts';
import type { Policy, PolicyRef } from '../model/index.ts';
import type { Sender } from '../outbound/index.ts';
import type { SecretBox } from '../signing/index.ts';
import type { ClaimedDelivery, News, RecordItem, RecordOutput, Store } from '../store/index.ts';
import { Acceptor } from './accept.ts';
import { callListener } from './call-listener.ts';
import { Claimer } from './claim.ts';
import { Cycle } from './cycle.ts';
import { Directory, type Target } from './directory.ts';
import { doubtingStore } from './doubting-store.ts';
import type { AttemptEvent, Engine, EngineEvent } from './engine.ts';
import { HandOffs } from './hand-offs.ts';
import { type Handlers, isHandler, NO_HANDLERS, type Received } from './handling.ts';
import type { Job, JobEnd } from './lane.ts';
import { Lanes } from './lanes.ts';
import { Leader, type LeaderDuty } from './lead.ts';
import { Lease } from './lease.ts';
import { createReaper } from './reap.ts';
import { createRelayer } from './relay.ts';
import { createSweeper } from './sweep.ts';
import { Taker } from './take.ts';
import { upkeepDuties } from './upkeep.ts';
import { DueWork } from './work-due.ts';
import { Worker } from './worker.ts';

export interface EngineOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly sender: Sender;
  readonly secretBox: SecretBox;
  readonly defaultPolicy: PolicyRef;
  readonly preset: (name: string) => Policy | undefined;
  /** Who this node is, for a person. */
  readonly nodeName: string;
  /** How due work reaches this node; by the store without it. */
  readonly dispatch?: Dispatch;
  /** False: this node accepts, and leaves what is due, and what dead nodes had, to the others, or to `workDue`. */
  readonly takesWork?: boolean;
  readonly svixNames?: boolean;
  /** The functions of this process that take received events; none without it. */
  readonly handlers?: Handlers;
  readonly maxInFlight?: number;
  readonly maxInFlightPerEndpoint?: number;
  readonly leaseMs?: number;
  /** How long finished messages are kept; for ever without it. */
  readonly retentionMs?: number;
  /** How long the ids of received events are known at least, whatever becomes of their messages. */
  readonly eventIdsForMs?: number;
  /** What one node does for all, beside the upkeep of the store. */
  readonly duties?: readonly LeaderDuty[];
}

const DEFAULT_LEASE_MS = 10_000;
const DEFAULT_MAX_IN_FLIGHT = 1024;
const DEFAULT_MAX_IN_FLIGHT_PER_ENDPOINT = 64;
const DEFAULT_GRACE_MS = 20_000;
/**
 * What is leased ahead goes on from memory; what is not is claimed later, which costs the store as much again. Where there
 * are other nodes, which may be idle, they could have had it out by so much sooner. After a crash, this much was leased and
 * may have been sent.
 */
const LEASED_AHEAD_MS = { alone: 4000, withOthers: 1000 };
/**
 * Where one writer does everything, what is being accepted waits for a claim's commit: beside endpoints with a backlog, claims
 * of 1,024 made the p99 of others 2.6 times what it is alone, claims of 256 1.85 times (`npm run simulate`).
 */
const MOST_PER_CLAIM_OF_ONE_WRITER = 256;
/** Enough to look some of them up; each of them has its own event, and its own record. */
const NAMED_OF_TAKEN_OVER = 5;
/** Nobody waits for the lease any more: the job is leased to this epoch until that is taken over from. */
const STILL_LEASED: JobEnd = { kind: 'lost' };
/** At a stop, how long a queue may take to hear how its jobs ended. */
const DISPATCH_GRACE_MS = 2000;

export function createEngine(given: EngineOptions): Engine {
  const options = { ...given, store: doubtingStore(given.store, () => lease.doubt()) };
  const { store, clock, dispatch = byStore, handlers = NO_HANDLERS, takesWork = true } = options;
  const maxInFlight = options.maxInFlight ?? DEFAULT_MAX_IN_FLIGHT;
  const listeners = new Set<(event: EngineEvent) => unknown>();
  const emit = (event: EngineEvent) => {
    // A listener is the user's: what it throws, or rejects with, must not reach the engine's own path, nor end the process.
    const onThrown = (error: unknown) => {
      if (event.kind !== 'trouble') onTrouble(error);
    };
    for (const listener of listeners) callListener(listener, event, onThrown);
  };
  const onTrouble = (error: unknown) => emit({ kind: 'trouble', error });
  const cycle = new Cycle(clock, emit);
  const directory = new Directory(options);
  const epoch = () => lease.epoch;
  const onFenced = () => lease.fenced();

  const lanes: Lanes = new Lanes({
    clock,
    maxInFlight,
    laneCeiling: options.maxInFlightPerEndpoint ?? DEFAULT_MAX_IN_FLIGHT_PER_ENDPOINT,
    aheadMs: () => (lease.isAlone ? LEASED_AHEAD_MS.alone : LEASED_AHEAD_MS.withOthers),
    start(job) {
      const mayStart = lease.isFresh && job.epoch === lease.epoch;
      void seeOff(job, mayStart ? worker.work(job) : startLate(job));
    },
    mostPerClaim: store.soleProcess ? MOST_PER_CLAIM_OF_ONE_WRITER : Number.POSITIVE_INFINITY,
    onHungry: () => claimer.ask(),
  });
  const worker: Worker = new Worker({
    ...options,
    svixNames: options.svixNames ?? false,
    handlers,
    directory,
    onFinished: (job, succeeded) => lanes.finish(job, succeeded),
    onRecorded,
    onEndpoints,
    onReleased: () => claimer.look(),
    onTrouble,
  });
  const handOffs = new HandOffs(options.ids);
  const acceptor = new Acceptor({
    ...options,
    takesWork,
    directory,
    handlers,
    lanes,
    handOffs,
    dispatch,
    epoch,
    onHandedOff: () => cycle.claimed(1),
    onFenced,
  });
  const claimer: Claimer = new Claimer({
    store,
    clock,
    lanes,
    directory,
    handlers,
    epoch,
    graceMs: () => (dispatch.carries ? dispatch.graceMs : 0),
    onClaimed: (count) => cycle.claimed(count),
    onFenced,
    onTrouble,
  });
  const taker = new Taker({
    store,
    clock,
    lanes,
    directory,
    epoch,
    onTaken: () => cycle.claimed(1),
    onFenced,
    onTrouble,
  });
  const dueWork = new DueWork({
    store,
    clock,
    lanes,
    directory,
    handlers,
    worker,
    epoch,
    onClaimed: (count) => cycle.claimed(count),
    onTakenOver,
    onFenced,
    onTrouble,
  });
  const relayer = createRelayer({ clock, acceptor, onTrouble });
  const reaper = createReaper({ store, clock, worker, epoch, onTakenOver, onTrouble });
  const sweeper = createSweeper({ store, clock, onMoved: () => claimer.look(), onTrouble });
  const leader = new Leader({ clock, duties: [...upkeepDuties(options), ...(options.duties ?? [])], onTrouble });
  const lease: Lease = new Lease({
    store,
    clock,
    nodeName: options.nodeName,
    leaseMs: options.leaseMs ?? DEFAULT_LEASE_MS,
    handedFrom: () => handOffs.from,
    onBeat(leads) {
      leader.beat(leads);
      relayer.ask();
      reaper.ask();
      sweeper.ask();
    },
    onFenced() {
      emit({ kind: 'fenced' });
      wake();
    },
    onTrouble,
  });
  let state: 'new' | 'running' | 'stopped' = 'new';
  let unwatch = () => {};

  /** Whoever handed a job out learns how it ended. */
  async function seeOff(job: Job, ending: Promise<JobEnd>): Promise<void> {
    try {
      const end = await ending;
      if (end !== STILL_LEASED && job.handedAt !== undefined) handOffs.delete(job.handedAt);
      job.onEnd?.(end);
    } catch (error) {
      onTrouble(error);
      job.onEnd?.({ kind: 'lost' });
    }
  }

  /** What was leased under a lost epoch is somebody else's by now; what a stalled node holds may be, the store says. */
  async function startLate(job: Job): Promise<JobEnd> {
    await lease.renewed();
    if (lease.isFresh && job.epoch === lease.epoch) return worker.work(job);
    lanes.finish(job, true);
    return job.epoch === lease.epoch ? STILL_LEASED : { kind: 'lost' };
  }

  async function giveBackWaiting(): Promise<void> {
    await Promise.all(lanes.drain().map((job) => seeOff(job, worker.release(job))));
  }

  function onRecorded(
    job: Job,
    { attempt, scheduleAttempts }: RecordItem,
    target: Target,
    received: Received | undefined,
  ): void {
    const { decision } = attempt;
    if (decision.kind === 'retry') {
      const dueAt = attempt.startedAt + attempt.durationMs + decision.delayMs;
      if (!dispatch.carries || isHandler(job.delivery.destinationId)) claimer.askAt(dueAt);
      // What a queue handed out stays its own: it hears of the retry when the job ends.
      else if (job.onEnd === undefined) {
        const { id: deliveryId, destinationId } = job.delivery;
        dispatch.offer([{ deliveryId, destinationId, attempts: attempt.number, dueAt }]);
      }
    }
    cycle.decided(decision.kind);
    const { maxAttempts } = target;
    const event: { -readonly [K in keyof AttemptEvent]: AttemptEvent[K] } = {
      kind: 'attempt',
      attempt,
      scheduleAttempts,
      maxAttempts,
    };
    if (received?.eventId !== undefined) event.eventId = received.eventId;
    if (job.takenOver !== undefined) event.takenOver = job.takenOver;
    emit(event);
  }

  function onTakenOver(deliveries: readonly ClaimedDelivery[]): void {
    const deliveryIds = deliveries.slice(0, NAMED_OF_TAKEN_OVER).map(({ id }) => id);
    emit({ kind: 'taken_over', count: deliveries.length, deliveryIds });
  }

  function onEndpoints(endpoints: RecordOutput['endpoints']): void {
    for (const { id, health, applicationId, statusChanged } of endpoints) {
      const target = directory.peek(applicationId)?.targets.get(id);
      if (target !== undefined) target.health = health;
      // The fan-out revision rose with the status: the next publish must read it again.
      if (statusChanged) directory.changed(applicationId);
      emit({ kind: 'endpoint', endpointId: id, applicationId, health, statusChanged });
    }
    if (endpoints.some(({ statusChanged }) => statusChanged)) sweeper.ask();
  }

  function onNews(news: News): void {
    if (news.kind === 'changed') {
      directory.changed(news.applicationId);
      return;
    }
    relayer.ask();
    // What a queue carries reaches the nodes through it; what a person moved, on a node that may take no work, does not.
    if (!dispatch.carries || news.unqueued) claimer.look();
  }

  function wake(): void {
    relayer.ask();
    sweeper.ask();
    reaper.ask();
    claimer.look();
  }

  return {
    async start() {
      if (state !== 'new') return;
      await lease.start();
      state = 'running';
      if (!takesWork) await Promise.all([claimer.stop(), reaper.stop()]);
      unwatch = store.watch(onNews);
      await dispatch.start({
        ...(takesWork && { take: (work: Pick<Work, 'deliveryId' | 'destinationId'>) => taker.take(work) }),
        onChange: () => claimer.look(),
        onTrouble,
        onRestored: (what) => emit({ kind: 'restored', what }),
      });
      wake();
    },
    async stop(graceMs = DEFAULT_GRACE_MS) {
      if (state !== 'running') return;
      state = 'stopped';
      unwatch();
      lanes.stop();
      const giveUp = new AbortController();
      const dispatched = dispatch.stop(giveUp.signal).catch(onTrouble);
      const duties = Promise.all([
        claimer.stop(),
        relayer.stop(),
        reaper.stop(),
        sweeper.stop(),
        leader.stop(),
        acceptor.idle(),
        taker.stop(),
      ]);
      if (graceMs > 0) await Promise.race([Promise.all([duties, lanes.empty()]), sleep(clock, graceMs)]);
      worker.cutOff();
      lease.giveUp();
      await lanes.empty();
      const released = giveBackWaiting();
      if (graceMs > 0) await Promise.race([Promise.all([duties, released, worker.idle()]), sleep(clock, graceMs)]);
      worker.abandon();
      await Promise.all([duties, released]).catch(onTrouble);
      // What was being leased when the lanes were emptied.
      await giveBackWaiting();
      await worker.idle();
      await Promise.race([dispatched, sleep(clock, DISPATCH_GRACE_MS)]);
      giveUp.abort();
      await dispatched;
      cycle.stop();
      await lease.stop().catch(onTrouble);
    },
    publish(publication) {
      return state === 'running' ? acceptor.publish(publication) : Promise.reject(notRunning(state));
    },
    changed(applicationId) {
      directory.changed(applicationId);
    },
    async workDue(limit) {
      if (state !== 'running') throw notRunning(state);
      return dueWork.work(limit);
    },
    wake() {
      if (state === 'running') wake();
    },
    on(listener) {
      if (typeof listener !== 'function') throw invalid(['listener'], 'must be a function', 'type_error');
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function notRunning(state: 'new' | 'stopped'): PosthornError {
  return state === 'new' ? new PosthornError('not_ready', 'The engine is not started: call start() first.') : closed();
}
