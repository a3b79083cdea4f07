/** Dead letters of a week in words, for whoever reviews them. */
import type { DeadLetterReport } from 'posthorn';

export function reportText({ from, to, total, groups }: DeadLetterReport): string {
  const lines = groups.map(({ count, owner, eventType, example, firstAt, lastAt }) => {
    const seen = `first ${day(firstAt)}, last ${day(lastAt)}, for example ${example.id}`;
    return `${String(count).padStart(6)} × ${owner.name} ${eventType}: ${example.reason}\n         ${seen}\n`;
  });
  return `Dead letters from ${day(from)} to ${day(to)}: ${total}\n${lines.join('')}`;
}

function day(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
