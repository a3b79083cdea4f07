/**
 * The sources of one Posthorn by their names. Declared again with the same options it is the same source, so that several files
 * of a program can add handlers to it; with others the last would have won in silence, over the secrets too.
 */
import { PosthornError } from '../../errors.ts';
import type { DeclaredSource, EventMap, SourceOptions } from './declared-source.ts';

type Declare = (name: string, options: SourceOptions) => DeclaredSource<EventMap>;

export function declareOnce(declare: Declare): Declare {
  const known = new Map<string, { readonly text: string; readonly source: DeclaredSource<EventMap> }>();
  return (name, options) => {
    const text = JSON.stringify(options);
    const earlier = known.get(name);
    if (earlier === undefined) {
      const source = declare(name, options);
      known.set(name, { text, source });
      return source;
    }
    if (earlier.text === text) return earlier.source;
    throw new PosthornError(
      'conflict',
      `The source ${name} is declared already, with other options: declare it once, or everywhere with the same ones, and add handlers to what source() gives.`,
    );
  };
}
