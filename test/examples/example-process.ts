/** An example as its README says to run it: the commands are taken from there, as written but for port and folder. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Readme {
  readonly lines: number;
  /** The fenced blocks of a language, in order. */
  blocks(language: 'sh' | 'sql' | 'ts'): string[];
  /** The two commands that it begins with: build, run. */
  readonly commands: readonly string[];
  readonly curls: readonly string[];
}

export function readReadme(example: string): Readme {
  const text = readFileSync(join(root, 'examples', example, 'README.md'), 'utf8');
  const blocks = (language: string) =>
    [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, block = '']) => block.trim());
  const [first = '', ...others] = blocks('sh');
  return {
    lines: text.trimEnd().split('\n').length,
    blocks,
    commands: first.split('\n'),
    curls: others.flatMap((block) => block.split('\n')).filter((line) => line.startsWith('curl ')),
  };
}

/** A command of a README to its end; what it printed. */
export async function runCommand(command: string, env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await run('bash', ['-e', '-c', command], { cwd: root, env: { PATH: process.env.PATH, ...env } });
  return stdout;
}

export class ExampleProcess implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'posthorn-example-'));
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  out = '';

  constructor(command: string, env: Record<string, string> = {}) {
    // `exec`, so that the signal reaches the program and not the shell.
    this.#child = spawn('bash', ['-c', `exec env ${command}`], {
      cwd: root,
      env: { PATH: process.env.PATH, PORT: '0', DATA_DIR: this.folder, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text) => {
        this.out += text;
      });
    }
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve));
  }

  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.out);
      if (match !== null) return match;
      const next = new Promise<'more'>((resolve) => this.#child.stdout?.once('data', () => resolve('more')));
      const first = await Promise.race([next, this.#ended]);
      if (first !== 'more' && pattern.exec(this.out) === null) {
        throw new Error(`the example ended (${first}) before printing ${pattern}:\n${this.out}`);
      }
    }
  }

  /** Where it listens, once it does. */
  async url(): Promise<string> {
    const [, url = ''] = await this.printed(/(http:\/\/127\.0\.0\.1:\d+)/);
    return url;
  }

  /** What a curl of the README answers. */
  async curl(line: string): Promise<string> {
    const quiet = line.replace(/^curl /, 'curl --silent --show-error --fail-with-body ');
    return runCommand(quiet.replaceAll('http://127.0.0.1:3000', await this.url()));
  }

  get ended(): Promise<number | null> {
    return this.#ended;
  }

  /** Asks it to end; its exit code. */
  stop(): Promise<number | null> {
    this.#child.kill('SIGTERM');
    return this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}
