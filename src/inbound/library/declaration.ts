/**
 * Makes a declared source and its handlers be in the store. What fails is told and tried again with the next request: one
 * hiccup of the store at the start must not close the source until somebody restarts the process.
 */
import type { Logger } from '../../engine/index.ts';
import { describeError } from '../../errors.ts';
import type { PolicyInput, SourceInput, Sources } from '../../resources/index.ts';
import type { Handler } from '../handlers/handler.ts';
import type { HandlerRegistry } from '../handlers/handler-registry.ts';

export interface DeclaringOptions {
  readonly sources: Sources;
  readonly handlers: HandlerRegistry;
  readonly logger: Logger;
  /** This process has a new handler: what waits for it may be claimed. */
  readonly onHandler: () => void;
}

export interface WantedSource extends SourceInput {
  readonly uid: string;
}

export interface WantedHandler {
  readonly name: string;
  readonly eventTypes: readonly string[] | undefined;
  readonly handler: Handler;
  readonly policy: PolicyInput | undefined;
  readonly transaction: boolean;
}

export class Declaration {
  readonly #wanted: WantedSource;
  readonly #options: DeclaringOptions;
  readonly #inWords: (error: unknown) => unknown;
  readonly #handlers = new Map<string, WantedHandler>();
  readonly #bound = new Set<string>();
  #sourceId: string | undefined;
  #underWay: Promise<void> | undefined;
  #hasLooked = false;

  /** `inWords` says an error in the words of who declared it. */
  constructor(wanted: WantedSource, options: DeclaringOptions, inWords: (error: unknown) => unknown) {
    this.#wanted = wanted;
    this.#options = options;
    this.#inWords = inWords;
  }

  has(handler: string): boolean {
    return this.#handlers.has(handler);
  }

  add(handler: WantedHandler): void {
    this.#handlers.set(handler.name, handler);
  }

  /** Resolves when all that was declared so far is in the store; rejects when it cannot be, until it is asked again. */
  async made(): Promise<void> {
    while (this.#sourceId === undefined || this.#bound.size < this.#handlers.size) await this.#makeOnce();
  }

  /** However many ask, one at a time does it. */
  #makeOnce(): Promise<void> {
    this.#underWay ??= this.#make()
      .catch((thrown: unknown) => {
        const error = this.#inWords(thrown);
        const about = { source: this.#wanted.uid, error: describeError(error) };
        this.#options.logger.error(about, 'the source could not be declared; the next request to it tries again');
        throw error;
      })
      .finally(() => {
        this.#underWay = undefined;
      });
    return this.#underWay;
  }

  async #make(): Promise<void> {
    this.#sourceId ??= await this.#declare();
    for (let left = this.#unbound(); left.length > 0; left = this.#unbound()) {
      await Promise.all(left.map((handler) => this.#bind(handler, this.#sourceId ?? '')));
    }
  }

  async #declare(): Promise<string> {
    const { id, warning, droppedSecrets } = await this.#options.sources.declare(this.#wanted);
    if (warning !== undefined) this.#options.logger.warn({ source: this.#wanted.uid }, warning);
    if (droppedSecrets !== undefined) {
      const verb = droppedSecrets === 1 ? 'is' : 'are';
      this.#options.logger.warn(
        { source: this.#wanted.uid, droppedSecrets },
        `the code does not name every secret that this source took until now, and ${droppedSecrets} of them ${verb} taken no more: if the provider signs with it, name both, as in secret: [new, old]`,
      );
    }
    return id;
  }

  #unbound(): WantedHandler[] {
    return [...this.#handlers.values()].filter(({ name }) => !this.#bound.has(name));
  }

  async #bind({ name, eventTypes, handler, policy, transaction }: WantedHandler, sourceId: string): Promise<void> {
    const { sources, handlers, logger, onHandler } = this.#options;
    const destinationId = await sources.declareHandler(sourceId, { name, eventTypes, policy });
    const title = `${this.#wanted.uid}: ${name}`;
    if (handlers.has(destinationId)) {
      logger.warn(
        { source: this.#wanted.uid, handler: name },
        'this handler is declared twice in this process: the function that was declared last is called, the other one is not. Give each a name of its own, as in .on(type, handler, { name })',
      );
    }
    handlers.bind(destinationId, { title, eventTypes, handler, transaction });
    this.#bound.add(name);
    onHandler();
  }

  /** Once: a handler that was renamed in the code keeps getting events that nobody takes. */
  async warnOfOthers(): Promise<void> {
    if (this.#hasLooked) return;
    this.#hasLooked = true;
    const { sources, handlers, logger } = this.#options;
    try {
      const all = await sources.listHandlers(this.#wanted.uid);
      // Another module of this process may have declared some.
      const others = all
        .filter(({ id, name }) => !this.#handlers.has(name) && !handlers.has(id))
        .map(({ name }) => name);
      if (others.length === 0) return;
      logger.warn(
        { source: this.#wanted.uid, handlers: others },
        'this source has handlers that this process does not have: unless another process has them, their events wait for ever. Remove a handler that was renamed or given up with source.removeHandler(name)',
      );
    } catch (error) {
      this.#hasLooked = false;
      logger.error({ error: describeError(error) }, 'the handlers of a source could not be looked at');
    }
  }
}
