import { describe, expect, it } from 'vitest';
import { isPosthornError } from '../errors.ts';
import { listenFailure } from './listen-failure.ts';

const failed = (code: string) => listenFailure(Object.assign(new Error(code), { code }), 'foo..bar', 80);

describe('a server that cannot listen', () => {
  it.each(['ENOTFOUND', 'EAI_AGAIN', 'EADDRNOTAVAIL'])('ALL-06 names POSTHORN_HOST after %s', (code) => {
    const error = failed(code);
    expect(isPosthornError(error, 'config_invalid') && error.message).toMatch(
      /^POSTHORN_HOST="foo\.\.bar" is no address of this machine .*127\.0\.0\.1/,
    );
  });

  it.each(['EADDRINUSE', 'EACCES'])('ALL-06 names POSTHORN_PORT after %s', (code) => {
    const error = failed(code);
    expect(isPosthornError(error) && error.message).toContain('POSTHORN_PORT');
  });

  it('hands on what it does not know', () => {
    expect(failed('EMFILE')).not.toHaveProperty('issues');
  });
});
