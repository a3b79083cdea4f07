import { readFileSync } from 'node:fs';

interface PackageFile {
  readonly version: string;
  readonly engines: { readonly node: string };
}

/** What package.json says of this installation: it lies as far above `src/cli` as above `dist/cli`. */
export function readPackageFile(): PackageFile {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as PackageFile;
}
