/** The library as it ships: what a wrong key does, and what close leaves behind. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { createPosthorn as Create } from '../src/posthorn.ts';

let folder: string;
let createPosthorn: typeof Create;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'posthorn-key-'));
  const built = '../dist/posthorn.js';
  ({ createPosthorn } = (await import(built)) as { createPosthorn: typeof Create });
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('POSTHORN_SECRET_KEY', () => {
  it('keeps signing secrets out of the file, and another key or none stops the start', async () => {
    const store = `sqlite:${join(folder, 'posthorn.db')}`;
    const first = await createPosthorn({ store, secretKey: 'a key of sixteen or more' });
    const { record } = await first.applications.create({ name: 'Acme' });
    const endpoint = await first.endpoints.create(record.id, { url: 'https://example.com/hooks' });
    const secret = await first.endpoints.getSecret(record.id, endpoint.id);
    await first.close();
    expect(readFileSync(join(folder, 'posthorn.db')).includes(secret.slice('whsec_'.length))).toBe(false);

    for (const secretKey of ['another key of sixteen', undefined]) {
      const wrong = createPosthorn({ store, ...(secretKey === undefined ? {} : { secretKey }) });
      await expect(wrong).rejects.toMatchObject({ code: 'config_invalid' });
    }
    const again = await createPosthorn({ store, secretKey: 'a key of sixteen or more' });
    expect(await again.endpoints.getSecret(record.id, endpoint.id)).toBe(secret);
    await again.close();
  });
});
