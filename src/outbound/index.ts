/**
 * Sends one signed POST and turns whatever happens into an Outcome. It refuses to decide what follows (policy/), to
 * retry within an attempt, to dial an address that the guard has not passed, and to read more of an answer than the cap.
 * It promises that `send` settles within the total timeout and rejects only for bugs, and that a hostile endpoint costs
 * its own connection and nothing else. The clock that counts is the one given to `createSender`.
 */
export {
  type AddressGuard,
  type AddressGuardOptions,
  type AddressVerdict,
  createAddressGuard,
  type UrlVerdict,
} from './address-guard.ts';
export type { DialOptions, ResolvedAddress } from './connector.ts';
export { createSender, type Sender, type SenderOptions, type SendRequest } from './sender.ts';
