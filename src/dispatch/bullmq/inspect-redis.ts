import type { RedisLocation } from '../../config/index.ts';
import { connect } from './connect.ts';

export interface RedisReport {
  readonly version: string;
  /** `noeviction`, or what Redis may throw away when its memory is full. */
  readonly evictionPolicy: string;
  /** Whether Redis writes down what it holds, command by command. */
  readonly appendsToDisk: boolean;
}

/** Connects once and asks; rejects with what the connection failed of. */
export async function inspectRedis(location: RedisLocation): Promise<RedisReport> {
  const closed = AbortSignal.abort();
  const client = connect(location, 'producer', closed);
  let lastError: Error | undefined;
  client.on('error', (error: Error) => {
    lastError = error;
  });
  try {
    await new Promise<void>((resolve, reject) => {
      client.once('ready', resolve);
      client.once('end', () => reject(lastError ?? new Error('the connection was closed')));
    });
    const facts = new Map(
      (await client.info()).split(/\r?\n/).map((line) => line.split(':', 2) as [string, string | undefined]),
    );
    return {
      version: facts.get('redis_version') ?? 'unknown',
      evictionPolicy: facts.get('maxmemory_policy') ?? 'unknown',
      appendsToDisk: facts.get('aof_enabled') === '1',
    };
  } finally {
    client.disconnect();
  }
}
