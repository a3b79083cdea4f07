import type { Message } from '../model/index.ts';

/** A caller's own connection, inside a transaction that the caller ends: node-postgres' client, or anything like it. */
export interface SqlClient {
  query(text: string, values: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/** Leaves a message in the caller's transaction; its `applicationId` may be a uid. For adapters whose database callers share. */
export type Enqueue = (client: SqlClient, message: Message) => Promise<EnqueueResult>;

export type EnqueueResult =
  | { readonly kind: 'queued'; readonly applicationId: string }
  /** The event id is taken, by a message that is committed or by one of the caller's own transaction. */
  | { readonly kind: 'duplicate'; readonly messageId: string }
  | { readonly kind: 'missing' };
