/** What was paid and paid back. An event is entered once, however often it is handled. */
import { DatabaseSync } from '@photostructure/sqlite';

export interface Entry {
  readonly source: 'stripe' | 'paypal';
  readonly eventId: string;
  readonly kind: 'payment' | 'refund';
  /** The provider's id of the payment; of a refund, that of the payment which is paid back. */
  readonly reference: string;
  /** As the provider writes it: cents at Stripe, "30.00" at PayPal. */
  readonly amount: string;
  readonly currency: string;
  /** When the provider made the event, in ISO 8601. */
  readonly at: string;
}

export interface Ledger {
  enter(entry: Entry): void;
  entries(): Entry[];
  close(): void;
}

export function openLedger(path: string): Ledger {
  const database = new DatabaseSync(path);
  database.exec(`
    PRAGMA journal_mode = WAL;
    CREATE TABLE IF NOT EXISTS ledger (
      source    TEXT NOT NULL,
      event_id  TEXT NOT NULL,
      kind      TEXT NOT NULL,
      reference TEXT NOT NULL,
      amount    TEXT NOT NULL,
      currency  TEXT NOT NULL,
      at        TEXT NOT NULL,
      PRIMARY KEY (source, event_id)
    )`);
  return {
    enter({ source, eventId, kind, reference, amount, currency, at }) {
      database
        .prepare('INSERT INTO ledger VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (source, event_id) DO NOTHING')
        .run(source, eventId, kind, reference, amount, currency.toUpperCase(), at);
    },
    entries: () =>
      database
        .prepare(
          'SELECT source, event_id AS "eventId", kind, reference, amount, currency, at FROM ledger ORDER BY rowid',
        )
        .all() as unknown as Entry[],
    close: () => database.close(),
  };
}
