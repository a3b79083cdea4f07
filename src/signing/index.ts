/**
 * Standard Webhooks signatures: secrets, signing, verifying, rotation, and secrets encrypted at rest.
 *
 * Refuses: I/O, clocks and randomness of its own (the time and the random bytes are arguments); bodies that are not
 * the raw bytes; keys taken from a request.
 * Promises: what `createSigner` signs, every Standard Webhooks library verifies. `verify` answers with a value and
 * never throws for what a stranger sent; it throws only for secrets or a body that its caller got wrong.
 * Timestamps to sign and to verify are whole seconds; secrets expire in milliseconds, by the clock of whoever asks.
 */
export { type Content, createHmacSha256, type HmacSha256 } from './hmac.ts';
export { liveSecrets, nextExpiry, type RotateOptions, rotate } from './rotation.ts';
export { generateSecret, parseSecret, publicKey, type Secret, type SecretKind, secretForReceiver } from './secret.ts';
export { createSecretBox, type SecretBox } from './secret-box.ts';
export { type SignedAttempt, signatureHeaders } from './signature-headers.ts';
export { type HeaderSource, readSignedHeaders } from './signed-headers.ts';
export { createSigner, type Signer } from './signer.ts';
export { createVerifier, type Rejection, type Verified, type Verifier, type VerifyOptions, verify } from './verify.ts';
