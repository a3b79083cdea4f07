/** The built program as a process of its own: `npm test` builds before it tests. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export class SpawnedPosthorn implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<Ended>;
  #out = '';
  #err = '';

  constructor(args: readonly string[], options: { readonly cwd: string; readonly env?: Record<string, string> }) {
    if (!existsSync(MAIN)) throw new Error('dist/ is missing: run `npm run build` first');
    this.#child = spawn(process.execPath, [MAIN, ...args], {
      cwd: options.cwd,
      env: { PATH: process.env.PATH, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout?.on('data', (text) => {
      this.#out += text;
    });
    this.#child.stderr?.on('data', (text) => {
      this.#err += text;
    });
    this.#ended = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => resolve({ code, signal }));
    });
  }

  get out(): string {
    return this.#out;
  }

  get err(): string {
    return this.#err;
  }

  get ended(): Promise<Ended> {
    return this.#ended;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** What the pattern finds on stdout, as soon as it is there. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.#out);
      if (match !== null) return match;
      const next = new Promise((resolve) => this.#child.stdout?.once('data', resolve));
      const ended = await Promise.race([next.then(() => undefined), this.#ended]);
      if (ended !== undefined && pattern.exec(this.#out) === null) {
        throw new Error(`ended (${ended.code ?? ended.signal}) before printing ${pattern}:\n${this.#out}${this.#err}`);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill('SIGKILL');
    await this.#ended;
  }
}
