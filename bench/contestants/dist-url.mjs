import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A module of the build that is measured, to be imported. */
export function distUrl(dist, module) {
  return pathToFileURL(resolve(dist, module)).href;
}
