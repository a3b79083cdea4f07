/** Tells of every dead letter, with the event that it was, once it is recorded. */
import type { Attempt, Message } from '../model/index.ts';
import type { Store } from '../store/index.ts';
import type { Engine } from './engine.ts';

export interface DeadLetterNotice {
  /** The publisher's or provider's own id; the message's where there is none. */
  readonly eventId: string;
  readonly eventType: string;
  /** The application or source. */
  readonly applicationId: string;
  readonly destinationId: string;
  readonly messageId: string;
  readonly deliveryId: string;
  readonly cause: 'exhausted' | 'rejected';
  readonly reason: string;
  /** The attempt after which nothing more is tried. */
  readonly attempt: Attempt;
}

export function onDeadLetter(
  engine: Pick<Engine, 'on'>,
  store: Pick<Store, 'getMessage'>,
  listener: (notice: DeadLetterNotice) => unknown,
  onTrouble: (error: unknown, notice: DeadLetterNotice) => void,
): () => void {
  async function tell(attempt: Attempt, cause: DeadLetterNotice['cause'], known: string | undefined): Promise<void> {
    const { applicationId, messageId, deliveryId, destinationId, eventType, decision } = attempt;
    // A store in trouble must not keep the alarm from being raised.
    const read = (): Promise<Message | undefined> => store.getMessage({ applicationId, id: messageId });
    const eventId = known ?? (await read().catch(() => undefined))?.eventId ?? messageId;
    const ids = { applicationId, messageId, deliveryId, destinationId };
    const notice = { eventId, eventType, ...ids, cause, reason: decision.reason, attempt };
    try {
      await listener(notice);
    } catch (error) {
      onTrouble(error, notice);
    }
  }
  return engine.on((event) => {
    if (event.kind !== 'attempt' || event.attempt.decision.kind !== 'dead') return;
    void tell(event.attempt, event.attempt.decision.cause, event.eventId);
  });
}
