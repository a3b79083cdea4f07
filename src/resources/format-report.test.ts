import { describe, expect, it } from 'vitest';
import type { Delivery } from '../model/index.ts';
import { formatReport, type ReportLine, type ReportText } from './format-report.ts';

const AT = Date.parse('2026-01-08T09:30:00Z');
const DAY_MS = 86_400_000;
const report: ReportText = {
  from: AT - 7 * DAY_MS,
  to: AT,
  total: 12,
  groupCount: 1,
  isCapped: false,
  groups: [
    {
      owner: { kind: 'source', name: 'stripe' },
      eventType: 'invoice.paid',
      fingerprint: '0123456789ab',
      count: 12,
      countIsCapped: false,
      firstAt: AT - DAY_MS,
      lastAt: AT - 60_000,
      error: 'HTTP 500: a | b <script>',
      exampleId: 'dlv_1',
    },
  ],
};

describe('formatReport', () => {
  it('PAY-09 says in text what failed, how often, since when, with an example', () => {
    expect(formatReport(report, 'text')).toBe(
      [
        'Dead letters, 2026-01-01 09:30 UTC to 2026-01-08 09:30 UTC: 12 in 1 group',
        '',
        '      12  source stripe  invoice.paid',
        '          HTTP 500: a | b <script>',
        '          first 2026-01-07 09:30 UTC, last 2026-01-08 09:29 UTC',
        '          example dlv_1, fingerprint 0123456789ab',
        '',
      ].join('\n'),
    );
  });

  it('PAY-09 is a table in Markdown, in which an error is text, whatever is in it', () => {
    const lines = formatReport(report, 'markdown').split('\n');
    expect(lines).toContain('|---:|---|---|---|---|---|---|---|');
    expect(lines.at(-2)).toContain(String.raw`| HTTP 500: a \| b \<script\> |`);
  });

  it('says so when there was nothing, when a count stopped at its bound, and when groups are left out', () => {
    expect(formatReport({ ...report, total: 0, groupCount: 0, groups: [] }, 'text')).toMatch(/: none\n$/);
    const capped = {
      ...report,
      isCapped: true,
      groups: report.groups.map((each) => ({ ...each, countIsCapped: true })),
    };
    expect(formatReport(capped, 'text')).toContain('at least 12 in 1 group');
    expect(formatReport(capped, 'markdown')).toContain('| 12+ |');
    expect(formatReport({ ...report, groupCount: 3 }, 'text')).toContain('2 groups more, smaller than these');
  });

  it('PAY-09 takes what deadLetters.report() gives, as text without being told', () => {
    const { error, exampleId, ...group } = report.groups[0] as ReportLine;
    const example = { id: exampleId, lastError: error, reason: '500: not retried' } as Delivery;
    const owner = { ...group.owner, id: 'src_1', kind: 'source' as const };
    const reported = { ...group, owner, id: 'g', applicationId: 'src_1', example };
    expect(formatReport({ ...report, groups: [reported] })).toBe(formatReport(report, 'text'));
  });
});
