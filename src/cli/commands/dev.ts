import { Command } from 'commander';
import type { Terminal } from '../terminal.ts';

export function devCommand(_terminal: Terminal): Command {
  return new Command('dev').description('x');
}
