import { type Applications, createApplications } from './applications.ts';
import type { Context } from './context.ts';
import { createTokens, type Tokens } from './tokens.ts';

/** Everything that can be done with records, by the API and by the library alike. */
export interface Resources {
  readonly applications: Applications;
  readonly tokens: Tokens;
}

export function createResources(context: Context): Resources {
  return {
    applications: createApplications(context),
    tokens: createTokens(context),
  };
}
