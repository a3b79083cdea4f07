/**
 * Accepts and records as they cross to the store's thread and back: lists of plain values, what many of them say (whose they
 * are, what they are of) once for all, and all payloads in one buffer that changes hands. A clone of the objects writes and
 * reads every one of them, and the name of each of its properties, most of it at the cost of the store's thread.
 */
import type { Attempt, Message } from '../../model/index.ts';
import type {
  AcceptInput,
  AcceptItem,
  AcceptOutput,
  AcceptResult,
  NewDelivery,
  RecordInput,
  RecordItem,
  RecordOutput,
  Remembered,
} from '../store.ts';

export interface PackedAccept {
  readonly epoch: number;
  readonly now: number;
  readonly words: readonly string[];
  readonly values: readonly unknown[];
  readonly payloads: Uint8Array<ArrayBuffer>;
}

export interface PackedRecord {
  readonly epoch: number;
  readonly now: number;
  readonly words: readonly string[];
  readonly values: readonly unknown[];
}

/** Texts that come again and again, each under a number. */
class Words {
  readonly list: string[] = [];
  readonly #numbers = new Map<string, number>();

  numberOf(word: string): number {
    let number = this.#numbers.get(word);
    if (number === undefined) {
      number = this.list.push(word) - 1;
      this.#numbers.set(word, number);
    }
    return number;
  }
}

export function packAccept({ epoch, now, items }: AcceptInput): PackedAccept {
  const words = new Words();
  const values: unknown[] = [];
  let length = 0;
  for (const { message } of items) length += message.payload.byteLength;
  const payloads = new Uint8Array(length);
  let at = 0;
  for (const { message, fanoutRevision, deliveries, remember } of items) {
    payloads.set(message.payload, at);
    at += message.payload.byteLength;
    values.push(
      message.id,
      words.numberOf(message.applicationId),
      message.eventId,
      words.numberOf(message.eventType),
      message.channels,
      message.tags,
      message.payload.byteLength,
      message.createdAt,
      // As text, which is what becomes of them: a clone writes and reads each of them by itself.
      message.headers && JSON.stringify(message.headers),
      message.contentType,
      fanoutRevision,
      remember,
      deliveries.length,
    );
    for (const { id, destinationId, state } of deliveries) {
      values.push(id, words.numberOf(destinationId), words.numberOf(state));
    }
  }
  return { epoch, now, words: words.list, values, payloads };
}

export function unpackAccept({ epoch, now, words, values, payloads }: PackedAccept): AcceptInput {
  const items: AcceptItem[] = [];
  const wordAt = (at: number) => words[values[at] as number];
  let payloadAt = 0;
  for (let at = 0; at < values.length; ) {
    const payloadEnd = payloadAt + (values[at + 6] as number);
    const message = {
      id: values[at],
      applicationId: wordAt(at + 1),
      eventId: values[at + 2],
      eventType: wordAt(at + 3),
      channels: values[at + 4],
      tags: values[at + 5],
      payload: payloads.subarray(payloadAt, payloadEnd),
      createdAt: values[at + 7],
      headers: values[at + 8],
      contentType: values[at + 9],
    } as Message;
    payloadAt = payloadEnd;
    const fanoutRevision = values[at + 10] as number;
    const remember = values[at + 11] as Remembered | undefined;
    const end = at + 13 + 3 * (values[at + 12] as number);
    const deliveries: NewDelivery[] = [];
    for (at += 13; at < end; at += 3) {
      deliveries.push({ id: values[at], destinationId: wordAt(at + 1), state: wordAt(at + 2) } as NewDelivery);
    }
    items.push(
      remember === undefined
        ? { message, fanoutRevision, deliveries }
        : { message, fanoutRevision, deliveries, remember },
    );
  }
  return { epoch, now, items };
}

export function packRecord({ epoch, now, items }: RecordInput): PackedRecord {
  const words = new Words();
  const values: unknown[] = [];
  for (const { attempt, scheduleAttempts, firstAttemptAt, maxAttempts } of items) {
    values.push(
      attempt.id,
      attempt.deliveryId,
      attempt.messageId,
      words.numberOf(attempt.applicationId),
      words.numberOf(attempt.destinationId),
      words.numberOf(attempt.eventType),
      attempt.number,
      words.numberOf(attempt.trigger),
      words.numberOf(attempt.url),
      attempt.startedAt,
      attempt.durationMs,
      attempt.status,
      attempt.error,
      attempt.response,
      attempt.responseTruncated,
      attempt.decision,
      scheduleAttempts,
      firstAttemptAt,
      maxAttempts,
    );
  }
  return { epoch, now, words: words.list, values };
}

const RECORD_VALUES = 19;

export function unpackRecord({ epoch, now, words, values }: PackedRecord): RecordInput {
  const items: RecordItem[] = [];
  const wordAt = (at: number) => words[values[at] as number];
  for (let at = 0; at < values.length; at += RECORD_VALUES) {
    const attempt = {
      id: values[at],
      deliveryId: values[at + 1],
      messageId: values[at + 2],
      applicationId: wordAt(at + 3),
      destinationId: wordAt(at + 4),
      eventType: wordAt(at + 5),
      number: values[at + 6],
      trigger: wordAt(at + 7),
      url: wordAt(at + 8),
      startedAt: values[at + 9],
      durationMs: values[at + 10],
      status: values[at + 11],
      error: values[at + 12],
      response: values[at + 13],
      responseTruncated: values[at + 14],
      decision: values[at + 15],
    } as Attempt;
    items.push({
      attempt,
      scheduleAttempts: values[at + 16] as number,
      firstAttemptAt: values[at + 17] as number,
      maxAttempts: values[at + 18],
    } as RecordItem);
  }
  return { epoch, now, items };
}

export interface PackedAcceptOutput {
  readonly fenced: boolean;
  /** 0 for accepted, which most are. */
  readonly results: readonly (0 | AcceptResult)[];
}

const ACCEPTED: AcceptResult = { kind: 'accepted' };

export function packAcceptOutput({ fenced, results }: AcceptOutput): PackedAcceptOutput {
  return { fenced, results: results.map((result) => (result.kind === 'accepted' ? 0 : result)) };
}

export function unpackAcceptOutput({ fenced, results }: PackedAcceptOutput): AcceptOutput {
  return { fenced, results: results.map((result) => (result === 0 ? ACCEPTED : result)) };
}

export interface PackedRecordOutput {
  readonly endpoints: RecordOutput['endpoints'];
  /** 1 for a lease that was lost. */
  readonly results: readonly (0 | 1)[];
}

export function packRecordOutput({ endpoints, results }: RecordOutput): PackedRecordOutput {
  return { endpoints, results: results.map((result) => (result === 'recorded' ? 0 : 1)) };
}

export function unpackRecordOutput({ endpoints, results }: PackedRecordOutput): RecordOutput {
  return { endpoints, results: results.map((result) => (result === 0 ? 'recorded' : 'lease_lost')) };
}
