/** A report of dead letters in words: for a terminal or a mail, or as Markdown. */
import type { DeadLetterReport, ReportedGroup } from './dead-letter-report.ts';

export interface ReportLine {
  readonly owner: { readonly kind: string; readonly name: string };
  readonly eventType: string;
  readonly fingerprint: string;
  readonly count: number;
  readonly countIsCapped: boolean;
  readonly firstAt: number;
  readonly lastAt: number;
  /** The error of the example, in a line. */
  readonly error: string;
  readonly exampleId: string;
}

export interface ReportText {
  readonly from: number;
  readonly to: number;
  readonly total: number;
  readonly groupCount: number;
  readonly isCapped: boolean;
  readonly groups: readonly ReportLine[];
}

export function formatReport(report: DeadLetterReport | ReportText, format: 'text' | 'markdown' = 'text'): string {
  const groups = report.groups.map(toLine);
  const { groupCount } = report;
  const more = groupCount - groups.length;
  const rest = more > 0 ? `\n${groupsOf(more)} more, smaller than these, are not listed.\n` : '';
  return `${format === 'text' ? asText({ ...report, groups }) : asMarkdown({ ...report, groups })}${rest}`;
}

function toLine(group: ReportedGroup | ReportLine): ReportLine {
  if (!('example' in group)) return group;
  const { id, lastError, reason } = group.example;
  return { ...group, error: lastError ?? reason, exampleId: id };
}

function asText(report: ReportText): string {
  const lines = report.groups.map(
    (group) =>
      `\n${countOf(group).padStart(8)}  ${ownerOf(group)}  ${group.eventType}\n` +
      `          ${group.error}\n` +
      `          first ${time(group.firstAt)}, last ${time(group.lastAt)}\n` +
      `          example ${group.exampleId}, fingerprint ${group.fingerprint}\n`,
  );
  return `Dead letters, ${headline(report)}\n${lines.join('')}`;
}

function asMarkdown(report: ReportText): string {
  const rows = report.groups.map((group) => {
    const cells = [countOf(group), ownerOf(group), group.eventType, group.error, time(group.firstAt)];
    return [...cells, time(group.lastAt), group.exampleId, group.fingerprint].map(cell).join(' | ');
  });
  const head = '| count | owner | event type | error | first | last | example | fingerprint |\n';
  const body = rows.map((row) => `| ${row} |\n`).join('');
  const table = rows.length === 0 ? '' : `\n${head}|---:|---|---|---|---|---|---|---|\n${body}`;
  return `## Dead letters\n\n${headline(report)}\n${table}`;
}

function headline({ from, to, total, groupCount, isCapped }: ReportText): string {
  const what = total === 0 ? 'none' : `${isCapped ? 'at least ' : ''}${total} in ${groupsOf(groupCount)}`;
  return `${time(from)} to ${time(to)}: ${what}`;
}

function groupsOf(count: number): string {
  return count === 1 ? '1 group' : `${count} groups`;
}

function countOf({ count, countIsCapped }: ReportLine): string {
  return `${count}${countIsCapped ? '+' : ''}`;
}

function ownerOf({ owner }: ReportLine): string {
  return `${owner.kind} ${owner.name}`;
}

/** To the minute, in UTC. */
function time(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** What came from outside is text here, never markup or a new column. */
function cell(text: string): string {
  return text.replaceAll(/[\\`*_{}[\]()<>#|!~]/g, String.raw`\$&`).replaceAll(/\s+/g, ' ');
}
