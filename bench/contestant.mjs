// The process of one contestant: opens it, publishes through it, and says what was recorded, when and at what cost.
import { setTimeout as sleep } from 'node:timers/promises';
import { answer } from './answer.mjs';
import { monotonicMs } from './monotonic.mjs';
import { ownUsage } from './usage.mjs';

/** How many callers wait for their publish at the same time, where the contestant does not say otherwise. */
const PUBLISHERS = 256;

let contestant;
let publishers = PUBLISHERS;
let published = 0;
let recorded = 0;
let lastRecordedAt = 0;
let trouble;
let onProgress = () => {};

function nextId() {
  published += 1;
  return `msg_${process.pid}x${published}`;
}

/** A contestant calls this for each delivery whose result is stored. */
function onRecorded() {
  recorded += 1;
  lastRecordedAt = monotonicMs();
  onProgress();
}

/** Anything but a delivery at the first attempt: the numbers would mean something else. */
function onTrouble(message) {
  trouble ??= message;
  onProgress();
}

answer({
  async open({ file, ...options }) {
    const module = await import(`./contestants/${file}.mjs`);
    publishers = module.publishers ?? PUBLISHERS;
    contestant = await module.open({ ...options, onRecorded, onTrouble });
    return contestant.address ?? {};
  },

  /** As many events as that, as fast as the publishers get them accepted. */
  async publish({ events, to }) {
    const startedAt = monotonicMs();
    let left = events;
    const publisher = async () => {
      while (left-- > 0) await contestant.publish(nextId(), to);
    };
    await Promise.all(Array.from({ length: publishers }, publisher));
    return { startedAt, acceptedAt: monotonicMs() };
  },

  /** So many events a second, whether the contestant keeps up or not. Answers [webhook-id, time of the call]. */
  async pace({ ratePerSecond, seconds, to }) {
    const total = ratePerSecond * seconds;
    const startedAt = monotonicMs();
    const calls = [];
    let latestMs = 0;
    for (let index = 0; index < total; index++) {
      const dueAt = startedAt + (index * 1000) / ratePerSecond;
      const waitMs = dueAt - monotonicMs();
      if (waitMs > 0) await sleep(waitMs);
      const calledAt = monotonicMs();
      latestMs = Math.max(latestMs, calledAt - dueAt);
      calls.push(contestant.publish(nextId(), to).then((id) => [id, calledAt]));
    }
    return { calls: await Promise.all(calls), latestMs };
  },

  /** Resolves when so many deliveries in all are recorded. */
  async recorded({ total }) {
    await new Promise((resolve) => {
      onProgress = () => {
        if (recorded < total && trouble === undefined) return;
        // Once: Node looks into every promise that is resolved again, which each event of the next turn would pay for.
        onProgress = () => {};
        resolve();
      };
      onProgress();
    });
    if (trouble !== undefined) throw new Error(trouble);
    return { endedAt: lastRecordedAt };
  },

  usage: ownUsage,

  close: () => contestant.close(),
});
