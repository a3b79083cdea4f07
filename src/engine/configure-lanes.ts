import type { ClaimedDelivery } from '../store/index.ts';
import type { Directory } from './directory.ts';
import type { Lanes } from './lanes.ts';

export interface ConfigureOptions {
  readonly directory: Directory;
  readonly lanes: Lanes;
  readonly onTrouble: (error: unknown) => void;
}

/** After a restart a lane's first deliveries are leased, not accepted: its limits must hold for them too. */
export async function configureLanes(
  deliveries: readonly ClaimedDelivery[],
  { directory, lanes, onTrouble }: ConfigureOptions,
): Promise<void> {
  const seen = new Set<string>();
  for (const { applicationId, destinationId } of deliveries) {
    if (seen.has(destinationId)) continue;
    seen.add(destinationId);
    try {
      const audience = directory.peek(applicationId) ?? (await directory.audience(applicationId));
      const target = audience?.targets.get(destinationId);
      if (target !== undefined) lanes.configure(target.endpoint);
    } catch (error) {
      // They are leased by now and must reach their lane; the worker waits for the store.
      onTrouble(error);
    }
  }
}
