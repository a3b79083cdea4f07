import { createHash } from 'node:crypto';
import type { Checksum, TransferRow, TransferValue } from './transfer.ts';
import type { TransferTable } from './transfer-tables.ts';

/**
 * A checksum over rows in their canonical form: JSON, one row a line. Documents and bytes count by their SHA-256, so that
 * a database can work that out by itself and long ones need not be fetched; lists count by what they say, not how.
 */
export class RowChecksum {
  readonly #hash = createHash('sha256');
  readonly #kinds: readonly string[];
  #rows = 0;

  constructor(table: TransferTable) {
    this.#kinds = table.columns.map(({ kind }) => kind);
  }

  /** `digested`: documents and bytes are given as their SHA-256 in hex already. */
  add(row: TransferRow, digested: boolean): void {
    const canonical = row.map((value, index) => canonicalValue(this.#kinds[index], value, digested));
    this.#hash.update(`${JSON.stringify(canonical)}\n`);
    this.#rows += 1;
  }

  end(): Checksum {
    return { rows: this.#rows, sha256: this.#hash.digest('hex') };
  }
}

function canonicalValue(kind: string | undefined, value: TransferValue, digested: boolean): unknown {
  if (value === null) return null;
  if (kind === 'list') return JSON.parse(String(value));
  if (kind !== 'document' && kind !== 'bytes') return value;
  if (digested) return value;
  return createHash('sha256')
    .update(typeof value === 'string' ? value : (value as Uint8Array))
    .digest('hex');
}
