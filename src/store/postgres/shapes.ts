/**
 * What the rows of a batch have in common, once for all of them: a row names the place of its shape, and the statement looks
 * it up there, `($5::text[])[shape]`.
 */
export class Shapes<T> {
  /** One of each shape. */
  readonly all: T[] = [];
  readonly #of: (item: T) => readonly (string | number | boolean | undefined)[];
  readonly #places = new Map<string, number>();
  #last: readonly (string | number | boolean | undefined)[] = [];
  #lastPlace = 0;

  constructor(of: (item: T) => readonly (string | number | boolean | undefined)[]) {
    this.#of = of;
  }

  /** From 1 on, as PostgreSQL counts. */
  placeOf(item: T): number {
    const shape = this.#of(item);
    // Neighbours are mostly alike.
    if (this.#lastPlace > 0 && shape.every((value, index) => value === this.#last[index])) return this.#lastPlace;
    const key = JSON.stringify(shape);
    const place = this.#places.get(key) ?? this.all.push(item);
    this.#places.set(key, place);
    this.#last = shape;
    this.#lastPlace = place;
    return place;
  }
}
