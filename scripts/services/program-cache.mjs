// @ts-check
import { join } from 'node:path';
import { root } from '../steps.mjs';
import { isReachableByAll } from './reachable.mjs';

/**
 * Where fetched programs are kept. Inside node_modules, so that they go with it; elsewhere when we are root and the user
 * whom PostgreSQL runs as cannot reach this clone (one under /root, say).
 */
export function programCache() {
  const named = process.env.POSTHORN_TEST_PROGRAMS;
  if (named !== undefined) return named;
  return process.getuid?.() !== 0 || isReachableByAll(root)
    ? join(root, 'node_modules', '.cache', 'posthorn-services')
    : '/var/cache/posthorn-services';
}
