/** Requests and replies between the threads: the many and large ones packed, the others as they are. */
import type { AcceptInput, AcceptOutput, RecordInput, RecordOutput } from '../store.ts';
import type { Reply, Request } from './executor.ts';
import {
  type PackedAccept,
  type PackedAcceptOutput,
  type PackedRecord,
  type PackedRecordOutput,
  packAccept,
  packAcceptOutput,
  packRecord,
  packRecordOutput,
  unpackAccept,
  unpackAcceptOutput,
  unpackRecord,
  unpackRecordOutput,
} from './packing.ts';

export type Parcel = Request & { readonly isPacked?: true };
export type ReplyParcel = Reply & { readonly packed?: 'accept' | 'record' };

/** With the buffers that change hands, and answers to what cannot be packed: it spoils only itself. */
export function pack(requests: readonly Request[]): { parcels: Parcel[]; buffers: ArrayBuffer[]; refused: Reply[] } {
  const parcels: Parcel[] = [];
  const buffers: ArrayBuffer[] = [];
  const refused: Reply[] = [];
  for (const request of requests) {
    try {
      parcels.push(packOne(request, buffers));
    } catch (error) {
      refused.push({ id: request.id, ok: false, error });
    }
  }
  return { parcels, buffers, refused };
}

function packOne({ id, name, input }: Request, buffers: ArrayBuffer[]): Parcel {
  if (name === 'accept') {
    const packed = packAccept(input as AcceptInput);
    buffers.push(packed.payloads.buffer);
    return { id, name, input: packed, isPacked: true };
  }
  if (name === 'record') return { id, name, input: packRecord(input as RecordInput), isPacked: true };
  return { id, name, input };
}

export function unpack({ id, name, input, isPacked }: Parcel): Request {
  if (!isPacked) return { id, name, input };
  const unpacked = name === 'accept' ? unpackAccept(input as PackedAccept) : unpackRecord(input as PackedRecord);
  return { id, name, input: unpacked };
}

export function packReply(reply: Reply, { name }: Request): ReplyParcel {
  if (!reply.ok) return reply;
  const { id, output } = reply;
  if (name === 'accept') return { id, ok: true, output: packAcceptOutput(output as AcceptOutput), packed: name };
  if (name === 'record') return { id, ok: true, output: packRecordOutput(output as RecordOutput), packed: name };
  return reply;
}

export function unpackReply(reply: ReplyParcel): Reply {
  if (!reply.ok || reply.packed === undefined) return reply;
  const { id, output, packed } = reply;
  if (packed === 'accept') return { id, ok: true, output: unpackAcceptOutput(output as PackedAcceptOutput) };
  return { id, ok: true, output: unpackRecordOutput(output as PackedRecordOutput) };
}
