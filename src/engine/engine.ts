/** The engine as its users see it: the library object, the API and the CLI. */
import type { Attempt, EndpointHealth, Message } from '../model/index.ts';
import type { Remembered } from '../store/index.ts';
import type { WorkedOff } from './work-due.ts';

export interface Engine {
  /** Joins the store and begins to deliver. Publishing works from here on. */
  start(): Promise<void>;
  /** Stops claiming, lets attempts in flight finish for at most `graceMs`, releases the rest, leaves. */
  stop(graceMs?: number): Promise<void>;
  /** Stores a message with its deliveries; resolves when the commit is durable. */
  publish(publication: Publication): Promise<Published>;
  /** Says that an application, its endpoints or a policy changed: without an id, anything may have. */
  changed(applicationId?: string): void;
  /** Says that the store has work that the engine did not hand it: a redelivery, a resumed endpoint. */
  wake(): void;
  /** Tries at most so many due deliveries, the longest due first; resolves when all of them are recorded. */
  workDue(limit: number): Promise<WorkedOff>;
  /** Calls back for every event, in order, synchronously; returns the way to stop listening. */
  on(listener: (event: EngineEvent) => unknown): () => void;
}

export interface Publication {
  /** The application's id or uid, or a source's id. */
  readonly application: string;
  readonly eventType: string;
  /** A view over its own buffer: UTF-8 JSON, or any bytes as received. */
  readonly payload: Uint8Array;
  readonly eventId?: string;
  readonly channels?: readonly string[];
  readonly tags?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly contentType?: string;
  /** Store it only if a destination is for it. */
  readonly onlyIfWanted?: boolean;
  /** The answer to keep under an idempotency key, in the same commit. */
  readonly remember?: (message: Message) => Remembered;
}

export type Published =
  /** `destinations`: how many it is for. */
  | { readonly kind: 'accepted'; readonly message: Message; readonly destinations: number }
  | { readonly kind: 'duplicate'; readonly by: 'eventId'; readonly messageId: string; readonly samePayload: boolean }
  | { readonly kind: 'duplicate'; readonly by: 'key'; readonly remembered: Remembered }
  /** `onlyIfWanted`, and no destination is for it: nothing was stored. */
  | { readonly kind: 'unwanted' };

/** An attempt was recorded. `scheduleAttempts` of `maxAttempts` are used. */
export interface AttemptEvent {
  readonly kind: 'attempt';
  readonly attempt: Attempt;
  /** The provider's id of a received event. */
  readonly eventId?: string;
  readonly scheduleAttempts: number;
  readonly maxAttempts: number;
  /** Recorded for another process, which had it and died or stalled: nobody saw how it ended. */
  readonly takenOver?: true;
}

export type EngineEvent =
  | AttemptEvent
  /** What another process had was taken over, so many in one pass: each was an attempt before this. The first few ids. */
  | { readonly kind: 'taken_over'; readonly count: number; readonly deliveryIds: readonly string[] }
  /** Attempts changed an endpoint's failure count or status. */
  | {
      readonly kind: 'endpoint';
      readonly endpointId: string;
      readonly applicationId: string;
      readonly health: EndpointHealth;
      readonly statusChanged: boolean;
    }
  /** What happened in the last second, if anything did. */
  | {
      readonly kind: 'cycle';
      readonly claimed: number;
      readonly delivered: number;
      readonly retried: number;
      readonly failed: number;
    }
  /** This node's lease was lost and it has joined again. */
  | { readonly kind: 'fenced' }
  /** The store or the queue did not do what it was asked, or a listener threw; the engine goes on. */
  | { readonly kind: 'trouble'; readonly error: unknown }
  /** What was reported as trouble is over. */
  | { readonly kind: 'restored'; readonly what: string };
