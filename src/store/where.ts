import type { DeliveryState } from '../model/index.ts';

/** What databases say in words of their own; all else in a WHERE clause is the same for all. */
export interface Dialect<V> {
  /** The n-th parameter of a statement, counted from 1. */
  place(n: number): string;
  isOneOf(column: string, values: readonly string[]): { readonly clause: string; readonly params: readonly V[] };
  /** The JSON list in `column` has the next parameter in it. */
  hasMember(column: string): string;
  /** The text in `column` contains the next parameter, in whichever case. */
  hasText(column: string): string;
  flag(value: boolean): V;
  /** Being in a state, as the index over it knows it: written out, since partial indexes answer to no parameter. */
  isIn(state: DeliveryState): string;
}

export class Where<V> {
  readonly #dialect: Dialect<V>;
  readonly #clauses: string[] = [];
  readonly params: (V | string | number)[] = [];

  constructor(dialect: Dialect<V>) {
    this.#dialect = dialect;
  }

  /** Each `?` in the clause is the next of its parameters. */
  and(clause: string, ...params: (V | string | number)[]): this {
    let next = this.params.length;
    this.#clauses.push(clause.replaceAll('?', () => this.#dialect.place(++next)));
    this.params.push(...params);
    return this;
  }

  andEqual(column: string, value: string | number | undefined): this {
    return value === undefined ? this : this.and(`${column} = ?`, value);
  }

  andFlag(column: string, value: boolean | undefined): this {
    return value === undefined ? this : this.and(`${column} = ?`, this.#dialect.flag(value));
  }

  andIn(column: string, values: readonly string[] | undefined): this {
    if (values === undefined) return this;
    const { clause, params } = this.#dialect.isOneOf(column, values);
    return this.and(clause, ...params);
  }

  andBetween(column: string, after: number | undefined, before: number | undefined): this {
    if (after !== undefined) this.and(`${column} > ?`, after);
    if (before !== undefined) this.and(`${column} < ?`, before);
    return this;
  }

  andMember(column: string, member: string | undefined): this {
    return member === undefined ? this : this.and(this.#dialect.hasMember(column), member);
  }

  andText(column: string, text: string | undefined): this {
    return text === undefined ? this : this.and(this.#dialect.hasText(column), text);
  }

  andState(state: DeliveryState): this {
    return this.and(this.#dialect.isIn(state));
  }

  toString(): string {
    return this.#clauses.length === 0 ? '' : `WHERE ${this.#clauses.join(' AND ')}`;
  }
}
