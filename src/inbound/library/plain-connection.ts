/**
 * A connection on which plain requests come, one after the other, as providers and proxies send them. It is read without Node's
 * HTTP server, whose requests, responses and streams took a seventh of the CPU of receiving (November 2026). At the first byte
 * that is not plain it is given to that server, for good, with whatever has come.
 */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Answer } from '../providers/index.ts';
import { type PlainRequest, readPlainRequest } from './plain-request.ts';

export interface PlainConnectionOptions {
  readonly maxBodyBytes: number;
  /** When nothing has come for so long, and nothing is being answered, the connection is closed. */
  readonly keepAliveMs: number;
  /** Undefined for what is not plain after all. Never rejects. */
  readonly answer: (request: PlainRequest, isEncrypted: boolean) => Promise<Answer> | undefined;
  /** Each answer is the last of its connection. */
  readonly isClosing: () => boolean;
  /** Of the `Date` header. */
  readonly date: () => string;
  /** To Node's server. */
  readonly handOver: (socket: Socket) => void;
  readonly onGone: (connection: PlainConnection) => void;
}

/** It has no body and must not say how long that is. */
export const NO_CONTENT = 204;

export class PlainConnection {
  readonly #socket: Socket;
  readonly #options: PlainConnectionOptions;
  #isAnswering = false;
  /** No more will come on it. */
  #hasEnded = false;
  /** What came while a request was being answered: more than one at a time is for Node's server. */
  #early: Buffer[] = [];

  constructor(socket: Socket, options: PlainConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on('data', this.#onData);
    socket.on('end', this.#onEnd);
    socket.on('timeout', this.#onTimeout);
    socket.on('error', this.#onError);
    socket.on('close', this.#onClose);
    socket.setTimeout(options.keepAliveMs);
  }

  /** Ends it, unless something is being answered: that answer ends it. */
  closeIdle(): void {
    if (!this.#isAnswering) this.close();
  }

  /** At once, whatever is being answered. */
  close(): void {
    this.#socket.destroy();
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.#isAnswering) {
      this.#early.push(bytes);
      this.#socket.pause();
      return;
    }
    const { maxBodyBytes, answer, isClosing } = this.#options;
    const request = isClosing() ? undefined : readPlainRequest(bytes, maxBodyBytes);
    const answering = request && answer(request, 'encrypted' in this.#socket);
    if (answering === undefined) {
      this.#handOver(bytes);
      return;
    }
    this.#isAnswering = true;
    answering.then(this.#send, () => this.#socket.destroy());
  };

  readonly #send = (answer: Answer): void => {
    const socket = this.#socket;
    // Node's server would keep one that is gone for ever: it waits for a `close` that has been.
    if (socket.destroyed) return;
    this.#isAnswering = false;
    const isLast = this.#hasEnded || this.#options.isClosing();
    const text = this.#textOf(answer, isLast);
    if (text === undefined) {
      socket.destroy();
    } else if (isLast) {
      socket.write(text, encodingOf(answer));
      // Whether or not the other side closes too.
      socket.destroySoon();
    } else {
      const isRead = socket.write(text, encodingOf(answer));
      if (this.#early.length > 0) this.#handOver(Buffer.concat(this.#early));
      else if (!isRead) this.#waitForReader();
    }
  };

  /** Whoever sends on and on and reads no answer would have us keep them all. Nothing comes meanwhile: it stays here. */
  #waitForReader(): void {
    this.#socket.pause();
    this.#socket.once('drain', () => this.#socket.resume());
  }

  /** As Node writes it, header by header. Undefined when a header would break out of its line. */
  #textOf({ status, headers, body }: Answer, isLast: boolean): string | undefined {
    const { keepAliveMs, date } = this.#options;
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`;
    if (status !== NO_CONTENT) head += `content-length: ${Buffer.byteLength(body)}\r\n`;
    for (const name of Object.keys(headers)) {
      const value = headers[name] ?? '';
      if (!VISIBLE.test(value)) return undefined;
      head += `${name}: ${value}\r\n`;
    }
    const connection = isLast ? 'close' : `keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}`;
    return `${head}Date: ${date()}\r\nConnection: ${connection}\r\n\r\n${body}`;
  }

  readonly #onEnd = (): void => {
    this.#hasEnded = true;
    if (!this.#isAnswering) this.#socket.end();
  };

  readonly #onTimeout = (): void => this.closeIdle();

  /** `close` follows. Without a listener it would end the process. */
  readonly #onError = (): void => {};

  readonly #onClose = (): void => this.#options.onGone(this);

  #handOver(bytes: Buffer): void {
    const socket = this.#socket;
    socket.off('data', this.#onData);
    socket.off('end', this.#onEnd);
    socket.off('timeout', this.#onTimeout);
    socket.off('error', this.#onError);
    socket.off('close', this.#onClose);
    socket.setTimeout(0);
    this.#onClose();
    // Paused, so that nothing is lost before it has a reader again.
    socket.pause();
    socket.unshift(bytes);
    this.#options.handOver(socket);
    socket.resume();
  }
}

const VISIBLE = /^[ -~]*$/;

/** Where each character is a byte, Node need not encode it: 3 to 5 % less CPU an event (32 paired turns, November 2026). */
function encodingOf({ body }: Answer): BufferEncoding {
  return Buffer.byteLength(body) === body.length ? 'latin1' : 'utf8';
}
