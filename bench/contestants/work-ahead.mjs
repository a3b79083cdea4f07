import { IN_FLIGHT } from './in-flight.mjs';

const FETCH_MOST = 500;
/** Fetched anew when fewer than this wait to be worked on: the next are there before the last are gone. */
const FETCH_BELOW = 200;
const IDLE_MS = 500;

/** Keeps `IN_FLIGHT` jobs in work and the next ones fetched. A publisher of the same process wakes it; else it looks now and then. */
export function workAhead({ fetch, work, onTrouble }) {
  const waiting = [];
  let inFlight = 0;
  let fetching;
  let stopped = false;
  let again = false;

  function start() {
    while (inFlight < IN_FLIGHT && waiting.length > 0) {
      inFlight += 1;
      void run(waiting.shift());
    }
    fetchMore();
  }

  async function run(job) {
    try {
      await work(job);
    } catch (error) {
      onTrouble(`an attempt failed: ${error.message}`);
    }
    inFlight -= 1;
    start();
  }

  function fetchMore() {
    again = true;
    if (fetching === undefined && waiting.length < FETCH_BELOW) fetching = fetchAll();
  }

  async function fetchAll() {
    try {
      do {
        again = false;
        const jobs = await fetch(FETCH_MOST);
        waiting.push(...jobs);
        if (jobs.length === FETCH_MOST) again = true;
      } while (again && !stopped && waiting.length < FETCH_BELOW);
    } catch (error) {
      onTrouble(`a fetch failed: ${error.message}`);
    }
    fetching = undefined;
    if (waiting.length > 0 && !stopped) start();
  }

  const timer = setInterval(fetchMore, IDLE_MS);
  return {
    wake: fetchMore,
    async stop() {
      stopped = true;
      clearInterval(timer);
      await fetching;
    },
  };
}
