/** The first `capBytes` of a body. Memory is bounded by the cap even when it drips in one byte at a time. */
export class CappedBody {
  private first: Buffer | undefined;
  private joined: Buffer | undefined;
  private length = 0;
  private readonly capBytes: number;

  constructor(capBytes: number) {
    this.capBytes = capBytes;
  }

  /** Answers false when the cap is exceeded: what came over is dropped and nothing more is wanted. */
  add(chunk: Buffer): boolean {
    const room = this.capBytes - this.length;
    const exceeded = chunk.length > room;
    const part = exceeded ? chunk.subarray(0, room) : chunk;
    if (this.length === 0) {
      // One chunk is the usual answer and needs no copy.
      this.first = part;
    } else {
      if (this.joined === undefined) {
        this.joined = Buffer.allocUnsafe(this.capBytes);
        this.first?.copy(this.joined);
      }
      part.copy(this.joined, this.length);
    }
    this.length += part.length;
    return !exceeded;
  }

  bytes(): Buffer | undefined {
    return this.joined?.subarray(0, this.length) ?? this.first;
  }
}
