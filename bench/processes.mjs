// Every process and folder that the bench makes, so that all of them are gone when it ends, however it ends.
import { fork } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CALL_TIMEOUT_MS = 300_000;

export class Processes {
  #children = new Set();
  #servers = new Set();
  folder;

  /** Under bench/results and not in the system's temporary folder, which is often memory: commits would cost nothing. */
  constructor(resultsFolder) {
    mkdirSync(resultsFolder, { recursive: true });
    this.folder = mkdtempSync(join(resultsFolder, 'tmp-'));
    // As root, the servers run as another user, who has to get in.
    chmodSync(this.folder, 0o755);
  }

  newFolder(name) {
    return mkdtempSync(join(this.folder, `${name}-`));
  }

  /** A Node program of the bench, spoken to by calls. */
  fork(file, name) {
    const path = fileURLToPath(new URL(file, import.meta.url));
    const child = fork(path, [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    return new Callable(this.#track(child), name, () => this.stop(child));
  }

  /** A server that was started elsewhere ends with the others. Gives how to say that it has ended. */
  adopt(server) {
    this.#servers.add(server);
    return () => this.#servers.delete(server);
  }

  /** Ends one process and resolves when it is gone. */
  async stop(child) {
    if (!this.#children.has(child)) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
  }

  removeFolder(folder) {
    rmSync(folder, { recursive: true, force: true });
  }

  async stopAll() {
    await Promise.all([...this.#children].map((child) => this.stop(child)));
    await Promise.all([...this.#servers].map((server) => server.stop()));
    rmSync(this.folder, { recursive: true, force: true });
  }

  #track(child) {
    this.#children.add(child);
    child.once('exit', () => this.#children.delete(child));
    // It could not be started, or is gone already: whoever waits for it hears so from its exit or its silence.
    child.on('error', () => {
      if (child.pid === undefined) this.#children.delete(child);
    });
    return child;
  }
}

/** A forked process as an object with methods. */
class Callable {
  #child;
  #name;
  #waiting = new Map();
  #lastId = 0;

  constructor(child, name, stop) {
    this.#child = child;
    this.#name = name;
    this.stop = stop;
    child.on('message', ({ id, output, error }) => {
      if (error === undefined) this.#settle(id)?.resolve(output);
      else this.#settle(id)?.reject(new Error(`${name}: ${error}`));
    });
    child.once('exit', (code, signal) => {
      const why = new Error(`${name}: its process ended (${signal ?? `exit code ${code}`})`);
      for (const id of [...this.#waiting.keys()]) this.#settle(id)?.reject(why);
    });
  }

  call(method, args, timeoutMs = CALL_TIMEOUT_MS) {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      const timer = setTimeout(() => {
        this.#settle(id)?.reject(new Error(`${this.#name}: ${method} took more than ${timeoutMs / 1000} s`));
      }, timeoutMs);
      this.#waiting.set(id, { resolve, reject, timer });
      if (this.#child.connected) this.#child.send({ id, method, args });
      else this.#settle(id)?.reject(new Error(`${this.#name}: its process has ended`));
    });
  }

  #settle(id) {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    clearTimeout(waiting?.timer);
    return waiting;
  }
}
