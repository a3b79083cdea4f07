import type { Store } from '../store/index.ts';

const CHUNK = 250;

/**
 * Who names this policy, in words, or undefined. Reads every application, source and endpoint, in chunks: deleting a policy is
 * rare, and a policy deleted under its users would change how they retry without anyone having said so. An endpoint
 * that takes the name up during the reading is not seen; the engine then falls back to its default policy.
 */
export async function findPolicyUser(store: Store, name: string): Promise<string | undefined> {
  for (const kind of ['application', 'source', 'endpoint'] as const) {
    for (let cursor: { key: string; direction: 'forward' } | undefined; ; ) {
      const page = await store.list({ kind, limit: CHUNK, order: 'ascending', ...(cursor && { cursor }) });
      const user = page.items.find(({ record }) => record.policy === name);
      if (user !== undefined) return `${kind} ${user.record.id}`;
      const last = page.items.at(-1);
      if (page.done || last === undefined) break;
      cursor = { key: last.record.id, direction: 'forward' };
    }
  }
  return undefined;
}
