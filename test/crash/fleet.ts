/** Node processes on one PostgreSQL, each under a name that the database sees, to be killed, stopped and added to. */
import { freePort, type ServerProcess, startServer } from './server-process.ts';

export type Role = 'all' | 'api' | 'worker';

export interface FleetNode {
  readonly name: string;
  readonly role: Role;
  readonly process: ServerProcess;
  isStopped: boolean;
}

export class Fleet {
  readonly #store: string;
  readonly #env: Record<string, string>;
  readonly #nodes = new Set<FleetNode>();
  #started = 0;

  constructor(store: string, env: Record<string, string>) {
    this.#store = store;
    this.#env = env;
  }

  get nodes(): readonly FleetNode[] {
    return [...this.#nodes];
  }

  /** Nodes that a publisher may ask; one of them may be stopped without its knowing. */
  get urls(): readonly string[] {
    return this.nodes.filter(({ role }) => role !== 'worker').map(({ process }) => process.url);
  }

  async add(role: Role): Promise<FleetNode> {
    const name = `${role}-${++this.#started}`;
    const store = new URL(this.#store);
    store.searchParams.set('application_name', name);
    const env = { ...this.#env, POSTHORN_ROLE: role };
    const process = await startServer({ store: store.href, port: await freePort(), env });
    const node = { name, role, process, isStopped: false };
    this.#nodes.add(node);
    return node;
  }

  async kill(node: FleetNode): Promise<void> {
    this.#nodes.delete(node);
    await node.process.end('SIGKILL');
  }

  stop(node: FleetNode): void {
    node.isStopped = true;
    node.process.child.kill('SIGSTOP');
  }

  resume(node: FleetNode): void {
    node.isStopped = false;
    node.process.child.kill('SIGCONT');
  }

  /** Answers how each of them ended. */
  async end(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }[]> {
    for (const node of this.#nodes) if (node.isStopped) this.resume(node);
    const ends = await Promise.all(this.nodes.map(({ process }) => process.end(signal)));
    this.#nodes.clear();
    return ends;
  }
}
