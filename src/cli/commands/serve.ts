import { Command } from 'commander';
import type { Terminal } from '../terminal.ts';

export function serveCommand(_terminal: Terminal): Command {
  return new Command('serve').description('x');
}
