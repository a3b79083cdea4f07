/** The scripts behind `npm start` and `npm test`, in a clone of their own with a stand-in for npm: no network. */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Notes how it was called, and does what npm ci does last: it writes the hidden lock file. */
const FAKE_NPM = `
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
appendFileSync('npm-calls', process.argv.slice(2).join(' ') + '\\n');
if (process.env.FAIL) process.exit(7);
mkdirSync('node_modules', { recursive: true });
writeFileSync('node_modules/.package-lock.json', '{}');
`;

let clone: string;
beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'posthorn-clone-'));
  for (const path of ['scripts', 'package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json']) {
    cpSync(join(ROOT, path), join(clone, path), { recursive: true });
  }
  write('fake-npm.js', FAKE_NPM);
});
afterEach(() => rmSync(clone, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(clone, path)), { recursive: true });
  writeFileSync(join(clone, path), text);
}

function run(code: string, env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: clone,
    env: { PATH: process.env.PATH, npm_execpath: join(clone, 'fake-npm.js'), ...env },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

function npmCalls(): string[] {
  const path = join(clone, 'npm-calls');
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
}

describe('ensureInstalled', () => {
  const CODE = `import { ensureInstalled } from './scripts/ensure-installed.mjs'; await ensureInstalled();`;

  it('ALL-07 installs from the lock file when nothing is there, and says so', () => {
    const { status, stdout } = run(CODE);
    expect(status).toBe(0);
    expect(stdout).toBe('posthorn: installing dependencies (npm ci) …\n');
    expect(npmCalls()).toEqual([expect.stringMatching(/^ci --include=dev --ignore-scripts --no-audit --no-fund/)]);
  });

  it('does nothing and says nothing when it is installed already', () => {
    run(CODE);
    expect(run(CODE)).toEqual({ status: 0, stdout: '', stderr: '' });
    expect(npmCalls()).toHaveLength(1);
  });

  it('installs again when the lock file has changed, or when an install was interrupted', () => {
    run(CODE);
    write('package-lock.json', '{"changed":true}');
    run(CODE);
    expect(npmCalls()).toHaveLength(2);
    rmSync(join(clone, 'node_modules/.package-lock.json'));
    run(CODE);
    expect(npmCalls()).toHaveLength(3);
  });

  it('trusts an install by hand that is newer than the lock file', () => {
    write('node_modules/.package-lock.json', '{}');
    expect(run(CODE)).toEqual({ status: 0, stdout: '', stderr: '' });
    expect(npmCalls()).toEqual([]);
  });

  it('ends with the exit code of npm and one line when npm fails, and tries again the next time', () => {
    const { status, stderr } = run(CODE, { FAIL: '1' });
    expect(status).toBe(7);
    expect(stderr).toBe('posthorn: npm ci failed: see its message above.\n');
    expect(run(CODE).status).toBe(0);
    expect(npmCalls()).toHaveLength(2);
  });
});

describe('ensureNode', () => {
  it('says in one line that Node is too old', () => {
    const packageFile = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8'));
    write('package.json', JSON.stringify({ ...packageFile, engines: { node: '>=99.1' } }));
    const { status, stderr } = run(`import { ensureNode } from './scripts/ensure-node.mjs'; ensureNode();`);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^posthorn: Node [\d.]+ is too old: install Node 99\.1 or newer.*\n$/);
  });
});

describe('build', () => {
  const CODE = `import { build } from './scripts/build.mjs'; process.exitCode = await build();`;

  it('compiles what changed, copies the SQL, makes the program executable, and removes what is gone', () => {
    symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
    // Reading the types of Node is most of what such a small build would do.
    write(
      'tsconfig.json',
      readFileSync(join(clone, 'tsconfig.json'), 'utf8').replace('"types": ["node"]', '"types": []'),
    );
    write('src/cli/main.ts', '#!/usr/bin/env node\nexport const answer: number = 42;\n');
    write('src/old.ts', 'export {};\n');
    write('src/store/0001_init.sql', 'SELECT 1;\n');
    expect(run(CODE)).toEqual({ status: 0, stdout: 'posthorn: building …\n', stderr: '' });
    expect(statSync(join(clone, 'dist/cli/main.js')).mode & 0o111).toBe(0o111);
    expect(readFileSync(join(clone, 'dist/store/0001_init.sql'), 'utf8')).toBe('SELECT 1;\n');
    expect(run(CODE)).toEqual({ status: 0, stdout: '', stderr: '' });

    rmSync(join(clone, 'src/old.ts'));
    rmSync(join(clone, 'src/store/0001_init.sql'));
    expect(run(CODE).stdout).toBe('posthorn: building …\n');
    expect(existsSync(join(clone, 'dist/old.js'))).toBe(false);
    expect(existsSync(join(clone, 'dist/store/0001_init.sql'))).toBe(false);
    expect(existsSync(join(clone, 'dist/cli/main.js'))).toBe(true);

    write('src/cli/main.ts', 'export const answer: number = "no";\n');
    expect(run(CODE)).toMatchObject({ status: 2, stdout: expect.stringContaining('error TS2322') });
    // A failed build is never taken for done.
    expect(existsSync(join(clone, 'dist/.built-from'))).toBe(false);
  }, 120_000);
});
