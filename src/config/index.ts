/**
 * What an operator may set, in one table: key, type, default, variable, what is allowed, and a line of documentation.
 *
 * Refuses: reading the environment by itself (the program's entry hands it in), defaults anywhere else, values that
 * almost fit. Promises: `loadConfig` gives a whole, frozen configuration, or one error that names every variable that is
 * wrong, its value and what is allowed. Has no clock.
 */
export { parseAge } from './age.ts';
export { configuredPreset } from './configured-preset.ts';
export { describeSettings } from './describe-settings.ts';
export { type Environment, loadConfig, type Overrides } from './load.ts';
export { parseRedisUrl, type RedisLocation } from './redis-url.ts';
export type { Config, LogLevel } from './schema.ts';
export { parseStoreUrl, type StoreLocation, withoutPassword } from './store-url.ts';
