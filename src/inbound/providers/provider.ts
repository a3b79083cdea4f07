import type { InboundEvent } from './inbound-event.ts';

/** A request as it came in. Providers sign bytes, so nothing in here was parsed or written again. */
export interface InboundRequest {
  readonly method: string;
  /** The whole URL as the provider called it, seen from outside of any proxy: Twilio, Square and HubSpot sign it. */
  readonly url: string;
  /** Lower-case names. Whoever fills this refuses a request that has a signature header twice. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type Verdict =
  | { readonly kind: 'verified' }
  /** `reason` is one line for the log. Strangers are not told it. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** Nobody could tell: a certificate could not be fetched. Answer 503, so that the provider tries again. */
  | { readonly kind: 'unavailable'; readonly reason: string }
  /** A challenge or a ping: send this and store nothing. */
  | ({ readonly kind: 'answer' } & Answer);

export interface VerifyPorts {
  /** By the clock, whenever it is asked for. */
  readonly now: number;
  /** The PEM text at a URL whose host was checked. It guards the address, limits size and time, and caches. */
  fetchCertificate(url: string): Promise<string>;
  /** The text at that URL was checked and believed: it is not to be forgotten for the sake of others. */
  trustCertificate?(url: string): void;
  /** Calls the URL that makes an AWS SNS subscription real. Its host was checked and its message verified. */
  confirmSubscription(url: string): Promise<void>;
  /** PEM certificates of authorities, roots or not, that a chain may end in; Node's own list without it. */
  readonly trustedRoots?: readonly string[];
}

export type Verify = (request: InboundRequest, ports: VerifyPorts) => Verdict | Promise<Verdict>;

export interface SettingSpec {
  /** For a person who fills in a form: what it is and where the provider shows it. */
  readonly doc: string;
  readonly required?: true;
  /** Encrypted at rest, never shown again. */
  readonly secret?: true;
  /** Several values are live at once and any may match, so that a secret can be changed without losing a request. */
  readonly list?: true;
  /** The only values that it takes. */
  readonly oneOf?: readonly string[];
}

export type SettingSpecs = Readonly<Record<string, SettingSpec>>;

/** Settings as a user gives them. */
export type ProviderSettings = Readonly<Record<string, string | readonly string[]>>;

export interface SampleOptions {
  readonly now: number;
  /** Makes the ids in the sample new: letters and digits. */
  readonly token: string;
  readonly url?: string;
}

/** What a source is received with: the settings are read and the keys made once. */
export interface PreparedProvider {
  /** How far a signed timestamp may be from now, by the source's settings; 0 where none is signed. */
  readonly toleranceMs: number;
  readonly verify: Verify;
  /** Ask it after `verify`. Throws a validation error when the body is not what this provider sends. */
  eventOf(request: InboundRequest): InboundEvent;
}

export interface Provider {
  readonly name: string;
  /** Other names that it is found by. */
  readonly aliases: readonly string[];
  readonly title: string;
  readonly doc: string;
  /** Shown wherever a source of this provider is made or listed. */
  readonly warning?: string;
  readonly settings: SettingSpecs;
  /** What `sign` needs and `verify` must not have: the private half of a key. */
  readonly signSettings: SettingSpecs;
  /** How far a signed timestamp may be from now, either way. Absent: the provider signs none. */
  readonly toleranceMs?: number;
  /** How long an event id must be remembered: never shorter than the provider retries or a timestamp is accepted. */
  readonly dedupeForMs: number;
  /** What the provider wants to hear when an event was taken, if not a 200 with some JSON. */
  readonly accepted?: Answer;
  /** What the 401 of a request that was not verified says besides. */
  readonly refusedHeaders?: Readonly<Record<string, string>>;
  prepare(settings: ProviderSettings): PreparedProvider;
  /** What a request says that its type is, whether it would be verified or not. Throws as `eventOf` does. */
  typeOf(request: InboundRequest, settings: ProviderSettings): string;
  readonly sampleTypes: readonly string[];
  /** A realistic request of that type, unsigned. */
  sample(type: string, options: SampleOptions): InboundRequest;
  /** The inverse of `verify`: the same request with its signature, wherever this provider puts it. */
  sign(request: InboundRequest, settings: ProviderSettings, now: number): InboundRequest;
}
