// The process that the receiving rig kills: the built library with a Stripe source, taking its webhooks over HTTP, by the server's
// own door or by a program's.
import { appendFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from '../../dist/api/index.js';
import { createPosthorn } from '../../dist/index.js';

const { STORE, PORT, SECRET, RUNS, EFFECTS, DIE_IN_HANDLER, DOOR } = process.env;
/** Interruptions use the schedule up after a few: it is long, and short in time. */
const policy = { extends: 'payments-inbound', schedule: { kind: 'explicit', delaysMs: Array(30).fill(50) } };
const posthorn = await createPosthorn({ store: STORE, logger: false });
let untilDeath = Number(DIE_IN_HANDLER);

const work = (most) => new Promise((resolve) => setTimeout(resolve, Math.random() * most));

function mayDie() {
  untilDeath -= 1;
  if (untilDeath === 0) process.kill(process.pid, 'SIGKILL');
}

/** A line in a file is what this handler does to the world: it is there whatever becomes of the process. */
async function note(_, { eventId }) {
  appendFileSync(RUNS, `${eventId}\n`);
  await work(15);
  mayDie();
}

async function writeRow(_, { eventId, transaction }) {
  await work(5);
  await transaction.query(`INSERT INTO ${EFFECTS} (event_id) VALUES ($1)`, [eventId]);
  await work(5);
  mayDie();
}

const source = posthorn.source('stripe', { secret: SECRET, policy }).on('*', note, { name: 'note' });
if (EFFECTS !== undefined) source.on('*', writeRow, { name: 'effects', transaction: true });
await source.ready();
const at = { host: '127.0.0.1', port: Number(PORT) };
if (DOOR === 'server') await createServer({ ...posthorn.served, logger: false }).listen(at);
else await new Promise((resolve) => createHttpServer(source.node()).listen(at, resolve));
process.send({ ready: true });

process.on('message', async (asked) => {
  if (asked === 'counts') process.send(await posthorn.served.store.counts({ most: 10_000 }));
  if (asked !== 'stop') return;
  await posthorn.close();
  process.exit();
});
process.on('disconnect', () => process.exit());
