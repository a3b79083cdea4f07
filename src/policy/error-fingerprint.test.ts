import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ErrorKind } from '../model/index.ts';
import { errorFingerprint, errorLine } from './error-fingerprint.ts';

const answer = (status: number, response: string) => errorFingerprint({ status, response });
const failure = (error: ErrorKind, response: string) => errorFingerprint({ status: 0, error, response });

const hex = (length: number) =>
  fc.array(fc.constantFrom(...'0123456789abcdef'), { minLength: length, maxLength: length }).map((all) => all.join(''));
/** A value that differs from event to event, of one kind, twice. */
const pairs = fc.oneof(
  ...[
    fc.nat().map(String),
    fc.uuid(),
    hex(24).map((text) => `${text}1`),
    hex(12).map((text) => `0x${text}`),
    fc.tuple(fc.constantFrom('7', '42'), hex(10)).map(([digit, text]) => `cus_${digit}${text}`),
    fc.ipV4().map((ip) => `${ip}:443`),
    fc.webUrl({ validSchemes: ['https'] }).map((url) => url.replaceAll(/["'<>)\]]/g, '')),
    fc.date({ min: new Date(0), max: new Date('2099-01-01'), noInvalidDate: true }).map((at) => at.toISOString()),
    fc.string({ unit: fc.constantFrom('a', 'b', ' ', '-', 'é'), maxLength: 30 }).map((text) => `"${text}"`),
    fc.nat(1_000_000).map((n) => `user${n}@example.com`),
  ].map((kind) => fc.tuple(kind, kind)),
);

const MESSAGES: readonly ((value: string) => string)[] = [
  (value) => `no connection to ${value} after 3 tries`,
  (value) => `Customer ${value} was not found`,
  (value) => `duplicate key ${value} violates unique constraint users_pkey`,
];

describe('errorFingerprint', () => {
  it('PAY-09 is the same for the same error about another thing, at another time and address', () => {
    fc.assert(
      fc.property(pairs, fc.constantFrom(...MESSAGES), ([one, other], message) => {
        expect(failure('database', message(one))).toBe(failure('database', message(other)));
        expect(answer(500, message(one))).toBe(answer(500, message(other)));
      }),
    );
  });

  it('PAY-09 an error is the same wherever it is thrown, and its stack is not in its line', () => {
    const thrown = (at: string) => ({ status: 0, error: 'unexpected', response: `TypeError: no object${at}` }) as const;
    const there = thrown('\n    at book (file:///app/v2/books.js:7:3)');
    expect(errorFingerprint(there)).toBe(errorFingerprint(thrown('\n    at pay (file:///app/v1/pay.js:1:9)')));
    expect(errorFingerprint(there)).toBe(errorFingerprint(thrown('')));
    expect(errorLine(there)).toBe('unexpected: TypeError: no object');
  });

  it('PAY-09 tells different errors apart: by status, by kind, by words', () => {
    const different = [
      answer(500, 'broken'),
      answer(502, 'broken'),
      answer(500, 'out of memory'),
      answer(400, '{"error":"card_declined"}'),
      answer(400, '{"error":"card_expired"}'),
      answer(400, '{"code":"card_declined","error":"x"}'),
      answer(502, '<html><head><title>502 Bad Gateway</title></head></html>'),
      failure('timeout', 'no answer within 10000 ms'),
      failure('database', 'no answer within 10000 ms'),
      failure('tls', 'certificate has expired'),
      failure('tls', 'self-signed certificate'),
      failure('validation', 'subscription has no customer'),
      failure('validation', 'subscription has no price'),
    ];
    expect(new Set(different).size).toBe(different.length);
  });

  it('reads JSON answers by their fields: values differ, the error is the same', () => {
    const one = '{"error":{"code":"not_found","message":"No such customer: \'cus_1a2b3c\'"},"request_id":"req_8h3k"}';
    const other =
      '{ "request_id": "req_x7f2", "error": {"message": "No such customer: \'cus_9z8y7x\'", "code": "not_found"} }';
    expect(answer(404, one)).toBe(answer(404, other));
    expect(answer(422, '{"detail":[{"msg":"is required"}]}')).toBe(
      answer(422, '{"detail":[{"msg":"is required"},{"msg":"too long"}]}'),
    );
    expect(answer(500, '{"data":"Anna"}')).toBe(answer(500, '{"data":"Berta"}'));
  });

  it('host names in our own messages do not count, in a receiver’s words they do', () => {
    expect(failure('dns', 'no address for hooks.acme.example')).toBe(
      failure('dns', 'no address for api.other.example'),
    );
    expect(failure('validation', 'order.total is missing')).not.toBe(failure('validation', 'order.date is missing'));
  });

  it('an error page is known by its title, whatever is around it', () => {
    const page = (body: string) => `<html><head><title>502 Bad Gateway</title></head><body>${body}</body></html>`;
    expect(answer(502, page('ray 7f3a'))).toBe(answer(502, page('come back later')));
  });

  it('is twelve hex digits for any text, and quick even for one that was made to be slow', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => /^[0-9a-f]{12}$/.test(answer(500, text))));
    const nasty = ['"', "'", '[', '1.', 'a@', 'a.', '::', '{"a":', 'ab_', '0x', '-', '<title>'];
    const startedAt = performance.now();
    for (const part of nasty) answer(500, part.repeat(8000));
    expect(performance.now() - startedAt).toBeLessThan(1000);
  });
});

describe('errorLine', () => {
  it('is one line, says what failed first, and is cut to a length that fits into a table', () => {
    expect(errorLine({ status: 503, response: 'try\n  later\u0007' })).toBe('HTTP 503: try later');
    expect(errorLine({ status: 0, error: 'database', response: 'gone' })).toBe('database: gone');
    expect(errorLine({ status: 404, response: '' })).toBe('HTTP 404');
    const long = errorLine({ status: 500, response: '🙂'.repeat(2000) });
    expect(/\p{Surrogate}/u.test(long)).toBe(false);
    expect([...long]).toHaveLength(300);
  });
});
