/**
 * What can be done with records: the rules, without a transport. The API, the library and the CLI all come through here,
 * so that none of them can store what another would refuse.
 *
 * Refuses: HTTP, SQL, deciding about deliveries. Promises: an input is checked whole before anything is written; bad
 * input is a PosthornError that says where and what to do; secrets reach the store sealed and tokens hashed; the engine
 * is told about every change that concerns it, after the change is durable. The context's clock counts.
 */
export type { ApplicationInput, Applications } from './applications.ts';
export type { Context, Made, Remember } from './context.ts';
export { DEFAULT_LIMIT, type Listing, MAX_LIMIT, type PageRequest } from './paging.ts';
export type { PolicyInput } from './policy-refs.ts';
export { createResources, type Resources } from './resources.ts';
export type { TokenInput, Tokens, TokenView } from './tokens.ts';
