/** Hears what other nodes tell, on a connection of its own. After a break it comes back and says that anything may have happened. */
import pg from 'pg';
import type { Clock, Timer } from '../../clock.ts';
import type { News } from '../store.ts';
import { readNews } from './news.ts';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;

export interface ListenerOptions {
  readonly client: pg.ClientConfig;
  readonly channel: string;
  /** The name under which this store tells its own news. */
  readonly teller: string;
  readonly clock: Clock;
}

export class Listener {
  readonly #options: ListenerOptions;
  readonly #hearers = new Set<(news: News) => void>();
  #client: pg.Client | undefined;
  #retry: Timer | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #closed = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** Connects with the first one that listens: a store that only reads needs no second connection. */
  watch(hearer: (news: News) => void): () => void {
    this.#hearers.add(hearer);
    if (this.#client === undefined && this.#retry === undefined) this.#connect();
    return () => this.#hearers.delete(hearer);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#hearers.clear();
    this.#retry?.cancel();
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => {});
  }

  #connect(): void {
    this.#retry = undefined;
    const client = new pg.Client(this.#options.client);
    this.#client = client;
    client.on('error', () => this.#lost(client));
    client.on('end', () => this.#lost(client));
    client.on('notification', ({ payload = '' }) => {
      for (const news of readNews(payload, this.#options.teller)) this.#tell(news);
    });
    this.#listen(client).catch(() => this.#lost(client));
  }

  async #listen(client: pg.Client): Promise<void> {
    await client.connect();
    await client.query(`LISTEN ${pg.escapeIdentifier(this.#options.channel)}`);
    this.#pauseMs = FIRST_PAUSE_MS;
    // Whatever was told before this moment was not heard.
    this.#tell({ kind: 'changed' });
    this.#tell({ kind: 'work', unqueued: true });
  }

  #lost(client: pg.Client): void {
    if (this.#closed || this.#client !== client) return;
    this.#client = undefined;
    client.end().catch(() => {});
    this.#retry = this.#options.clock.after(this.#pauseMs, () => this.#connect());
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }

  #tell(news: News): void {
    for (const hearer of this.#hearers) hearer(news);
  }
}
