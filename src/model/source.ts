import type { PolicyRef } from './policy.ts';

/** What becomes of an event that no destination of the source is for. */
export type OnUnknownEvent = 'reject' | 'ignore' | 'keep';

/** Where the id comes from by which a second copy of an event is known. */
export type Dedupe =
  /** The id that the provider gives each event; the body's hash where an event has none. */
  | { readonly by: 'provider' }
  | { readonly by: 'header'; readonly name: string }
  /** A dotted path into a JSON body: `data.object.id`. */
  | { readonly by: 'json'; readonly path: string }
  | { readonly by: 'body' };

/** What follows the source in a URL that it takes webhooks at. */
export interface UrlToken {
  /** Possibly encrypted at rest, as settings are. Without one, nothing follows: the plain URL. */
  readonly token?: string;
  /** From then on the URL is refused. Without one it is the current URL. */
  readonly expiresAt?: number;
}

/** Where inbound webhooks come from. Owns messages and destinations (forwards and handlers) as an application does. */
export interface Source {
  readonly id: string;
  readonly uid?: string;
  readonly name: string;
  /** `stripe`, `github`, `hmac`, …: who signs, and how. */
  readonly provider: string;
  /** The provider's settings as JSON, possibly encrypted at rest (signing/secret-box.ts): they hold its secrets. */
  readonly settings: string;
  /** The newest first. Without any, the plain URL is the one. */
  readonly urlTokens?: readonly UrlToken[];
  /** What its destinations follow when they name none of their own. */
  readonly policy: PolicyRef;
  readonly onUnknownEvent: OnUnknownEvent;
  readonly dedupe: Dedupe;
  /** How forwards are signed: anew with the endpoint's secret, or sent on with the headers that came. */
  readonly forwardAs: 'standard-webhooks' | 'pass-through';
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly updatedAt: number;
}
