// Document 002 as written: BullMQ, and axios with its own defaults (Node's global agent keeps connections alive).
import axios from 'axios';
import { signedHeaders } from '../event.mjs';
import { openBullmq } from './bullmq.mjs';

export function open(options) {
  return openBullmq(options, async (data) => {
    const response = await axios.post(data.url, data.payload, { timeout: 30_000, headers: buildHeaders(data) });
    return response.status;
  });
}

function buildHeaders({ deliveryId, payload }) {
  return signedHeaders(deliveryId, JSON.stringify(payload));
}
