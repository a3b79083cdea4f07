// @ts-check
import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';

const PASSED_BY_ALL = 0o001;

/** Whether any user may pass through the folder and all above it. @param {string} folder */
export function isReachableByAll(folder) {
  for (let each = folder; ; each = dirname(each)) {
    const mode = statSync(each, { throwIfNoEntry: false })?.mode ?? 0;
    if ((mode & PASSED_BY_ALL) === 0) return false;
    if (each === dirname(each)) return true;
  }
}

/**
 * A folder to make temporary ones in, for a server that runs as another user: the system's own may be inside the home of
 * root, where that user cannot go.
 *
 * @param {{ uid: number, gid: number } | undefined} user
 * @param {string} [wanted]
 */
export function parentFolderFor(user, wanted = tmpdir()) {
  return user === undefined || isReachableByAll(wanted) ? wanted : '/var/tmp';
}
