import { isPosthornError, PosthornError } from '../errors.ts';

/** For commands on a source that is there: whoever names another has mistyped it, and is not told to make one. */
export async function listedSource<T>(source: string, found: Promise<T>): Promise<T> {
  try {
    return await found;
  } catch (error) {
    if (!isPosthornError(error, 'not_found')) throw error;
    throw new PosthornError(
      'not_found',
      `There is no source ${JSON.stringify(source.slice(0, 80))}; \`posthorn sources list\` shows those there are`,
      { cause: error },
    );
  }
}
