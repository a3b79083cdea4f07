/**
 * What is signed: `id.timestamp.payload`, the payload as raw bytes. A dot inside the id would let the same signed
 * bytes be cut into another id, timestamp and payload, so such ids are neither signed nor accepted.
 */
const MESSAGE_ID = /^[\x21-\x2d\x2f-\x7e]{1,256}$/;

export function isMessageId(text: string): boolean {
  return MESSAGE_ID.test(text);
}

export function contentPrefix(messageId: string, timestampS: number): string {
  return `${messageId}.${timestampS}.`;
}

/** Ed25519 needs the content in one piece; HMAC takes prefix and payload one after the other, without a copy. */
export function contentBytes(prefix: string, payload: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(prefix), payload]);
}
