/** Who may import whom. The table is the law; everything under it is how the law is read. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

interface Room {
  /** Rooms whose door it may use, or `any`. */
  readonly rooms: readonly string[] | 'any';
  /** Rooms that it may know by type only. */
  readonly types?: readonly string[];
  /** The file that outsiders import; `index.ts` without it. */
  readonly door?: string;
  /** Packages from npm. */
  readonly packages?: readonly string[];
  /** Modules of Node's, all without it. A pure room has none: it runs in a browser too. */
  readonly node?: readonly string[];
}

const FOUNDATION = ['errors', 'clock', 'ids'] as const;

const ROOMS: Readonly<Record<string, Room>> = {
  errors: { rooms: [], node: [] },
  clock: { rooms: [], node: [] },
  ids: { rooms: [], node: ['node:crypto'] },
  fifo: { rooms: [], node: [] },
  'iso-time': { rooms: [], node: [] },
  model: { rooms: [], node: [] },
  policy: { rooms: ['model', 'errors'], node: [] },
  signing: { rooms: ['errors', 'ids'], types: ['model'], node: ['node:crypto'] },
  config: { rooms: ['model', 'policy', 'errors'] },
  store: { rooms: ['model', 'policy', 'errors', 'ids'], node: ['node:crypto'] },
  'store/sqlite': { rooms: ['store', 'model', 'policy', 'errors', 'ids'], packages: ['@photostructure/sqlite'] },
  'store/postgres': { rooms: ['store', 'model', 'policy', ...FOUNDATION], packages: ['pg'] },
  outbound: { rooms: ['model', 'errors', 'clock', 'fifo'], packages: ['undici', 'ipaddr.js'] },
  dispatch: { rooms: [], types: ['model'], node: [] },
  'dispatch/bullmq': { rooms: ['dispatch', 'errors', 'clock'], types: ['config'], packages: ['bullmq', 'ioredis'] },
  engine: { rooms: ['model', 'policy', 'signing', 'outbound', 'store', 'dispatch', 'fifo', ...FOUNDATION] },
  resources: {
    rooms: ['model', 'policy', 'signing', 'outbound', 'store', 'engine', 'inbound/providers', ...FOUNDATION],
    packages: ['ajv', 'ajv-formats'],
  },
  'inbound/providers': {
    rooms: ['policy', 'signing', 'errors'],
    node: ['node:crypto', 'node:tls', 'node:zlib'],
  },
  inbound: {
    rooms: [
      'model',
      'policy',
      'engine',
      'store',
      'signing',
      'outbound',
      'resources',
      'inbound/providers',
      ...FOUNDATION,
    ],
    packages: ['fastify'],
  },
  api: {
    rooms: ['resources', 'inbound', 'model', 'policy', 'iso-time', ...FOUNDATION],
    types: ['engine', 'store'],
    packages: ['fastify', '@fastify/swagger', '@fastify/type-provider-typebox', 'typebox', 'ajv', 'ajv-formats'],
  },
  posthorn: { rooms: 'any', packages: ['pino'] },
  cli: { rooms: 'any', door: 'main.ts', packages: ['commander', 'pino', 'fastify'] },
  index: { rooms: 'any' },
};

const FORBIDDEN_NAMES = /(^|\/)(utils?|helpers?|common|types|constants)(\.ts$|\/)/;

/** Source files by their path under `src`. */
type Sources = ReadonlyMap<string, string>;

interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

/** Tests and what only tests use: not compiled into dist, free to import anything, imported by nothing that ships. */
const isTest = (path: string) => path.endsWith('.test.ts') || /(^|\/)(testing|conformance|hostile)\//.test(path);

/** The innermost room that a file is in: `store/sqlite/lock.ts` is in `store/sqlite`, `errors.ts` is its own room. */
function roomOf(path: string): string {
  const parts = path.replace(/\.ts$/, '').split('/');
  for (let depth = parts.length; depth > 0; depth--) {
    const name = parts.slice(0, depth).join('/');
    if (name in ROOMS) return name;
  }
  return parts[0] ?? path;
}

function importsOf(path: string, text: string): Import[] {
  const found: Import[] = [];
  const add = (to: ts.Node | undefined, typeOnly: boolean) => {
    if (to !== undefined && ts.isStringLiteral(to)) found.push({ from: path, to: to.text, typeOnly });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, isTypeOnly(node.importClause));
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, true);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], false);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.ES2023));
  return found;
}

function isTypeOnly(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const names = clause.namedBindings;
  return clause.name === undefined && names !== undefined && ts.isNamedImports(names)
    ? names.elements.every((element) => element.isTypeOnly)
    : false;
}

function doorOf(room: string): string {
  return ROOMS[room]?.door ?? 'index.ts';
}

/** A relative import as a path under `src`; undefined when it leaves it. */
function resolve({ from, to }: Import): string | undefined {
  const url = new URL(to, `file:///src/${from}`);
  return url.pathname.startsWith('/src/') ? url.pathname.slice('/src/'.length) : undefined;
}

function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function violations(sources: Sources): string[] {
  const paths = [...sources.keys()];
  const imports = [...sources].filter(([path]) => !isTest(path)).flatMap(([path, text]) => importsOf(path, text));
  return [
    ...paths
      .filter((path) => FORBIDDEN_NAMES.test(path))
      .map((path) => `${path}: say what is in it, not that it is shared`),
    ...paths
      .filter((path) => !isTest(path) && !(roomOf(path) in ROOMS))
      .map((path) => `${path}: a room that the table does not name`),
    ...missingDoors(sources),
    ...imports.flatMap(wrongWith),
    ...cycles(imports),
  ];
}

function wrongWith(each: Import): string[] {
  const name = roomOf(each.from);
  const room = ROOMS[name];
  if (room === undefined) return [];
  const line = `${each.from} imports ${each.to}`;
  if (each.to.startsWith('node:')) {
    return room.node === undefined || room.node.includes(each.to) ? [] : [`${line}: ${name} may not use it`];
  }
  if (!each.to.startsWith('.')) {
    return room.packages?.includes(packageName(each.to)) ? [] : [`${line}: ${name} may not use this package`];
  }
  const target = resolve(each);
  if (target === undefined) return [`${line}: outside of src`];
  if (isTest(target)) return [`${line}: that is for tests`];
  const other = roomOf(target);
  if (other === name) return target === `${name}/${doorOf(name)}` ? [`${line}: insiders pass by the door`] : [];
  const allowed = room.rooms === 'any' || room.rooms.includes(other) || (each.typeOnly && room.types?.includes(other));
  if (!allowed) return [`${line}: ${name} may not know ${other}`];
  // What lives inside a room is an insider of it: an adapter reads the port's own file.
  if (name.startsWith(`${other}/`) || target === `${other}.ts` || target === `${other}/${doorOf(other)}`) return [];
  return [`${line}: only ${doorOf(other)} is its door`];
}

function missingDoors(sources: Sources): string[] {
  const houses = new Set([...sources.keys()].filter((path) => path.includes('/') && !isTest(path)).map(roomOf));
  return [...houses].flatMap((room) => {
    const door = sources.get(`${room}/${doorOf(room)}`);
    if (door === undefined) return [`${room}: has no ${doorOf(room)}`];
    return /^(#!.*\n)?\/\*\*[\s\S]{60,}?\*\//.test(door)
      ? []
      : [`${room}: its door opens without saying what the room is for`];
  });
}

function cycles(imports: readonly Import[]): string[] {
  const edges = new Map<string, Set<string>>();
  for (const each of imports) {
    const target = each.to.startsWith('.') ? resolve(each) : undefined;
    const [from, to] = [roomOf(each.from), target === undefined ? undefined : roomOf(target)];
    if (to === undefined || to === from) continue;
    edges.set(from, (edges.get(from) ?? new Set()).add(to));
  }
  const done = new Set<string>();
  const found: string[] = [];
  const walk = (room: string, trail: readonly string[]): void => {
    const seenAt = trail.indexOf(room);
    if (seenAt >= 0) found.push(`cycle: ${[...trail.slice(seenAt), room].join(' → ')}`);
    if (seenAt >= 0 || done.has(room)) return;
    for (const next of edges.get(room) ?? []) walk(next, [...trail, room]);
    done.add(room);
  };
  for (const room of edges.keys()) walk(room, []);
  return found;
}

function readSources(): Sources {
  const root = fileURLToPath(new URL('../src/', import.meta.url));
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

describe('rooms', () => {
  it('import only what the table allows, through the door, without a cycle', () => {
    const sources = readSources();
    expect(sources.size).toBeGreaterThan(50);
    expect(violations(sources)).toEqual([]);
  });

  it('name only rooms that exist in the table', () => {
    const named = Object.values(ROOMS).flatMap((room) => [
      ...(room.rooms === 'any' ? [] : room.rooms),
      ...(room.types ?? []),
    ]);
    expect(named.filter((name) => !(name in ROOMS))).toEqual([]);
  });
});

describe('a planted violation is found', () => {
  const DOOR = `/** ${'What this room is for, in a few lines. '.repeat(2)} */\n`;
  const planted = (files: Record<string, string>) => violations(new Map(Object.entries(files)));

  it.each<[string, Record<string, string>, string]>([
    [
      'a forbidden room',
      { 'policy/index.ts': `${DOOR}import '../store/index.ts';`, 'store/index.ts': DOOR },
      'policy may not know store',
    ],
    [
      'the engine naming an adapter',
      { 'engine/index.ts': `${DOOR}export * from '../store/sqlite/index.ts';`, 'store/sqlite/index.ts': DOOR },
      'engine may not know store/sqlite',
    ],
    [
      'a dynamic import',
      { 'model/index.ts': `${DOOR}const x = () => import('../errors.ts');` },
      'model may not know errors',
    ],
    [
      'an import type',
      { 'model/index.ts': `${DOOR}type X = import('../errors.ts').Issue;` },
      'model may not know errors',
    ],
    [
      'a value where only types are allowed',
      { 'signing/index.ts': `${DOOR}import { HEALTHY } from '../model/index.ts';`, 'model/index.ts': DOOR },
      'signing may not know model',
    ],
    [
      'a way round the door',
      { 'policy/index.ts': `${DOOR}import type { A } from '../model/attempt.ts';`, 'model/index.ts': DOOR },
      'only index.ts is its door',
    ],
    [
      'an insider at its own door',
      { 'policy/index.ts': DOOR, 'policy/a.ts': `import './index.ts';` },
      'insiders pass by the door',
    ],
    [
      'a foreign package',
      { 'engine/index.ts': `${DOOR}import { request } from 'undici';` },
      'engine may not use this package',
    ],
    [
      'a test library in what ships',
      { 'cli/main.ts': `${DOOR}import { it } from 'vitest';` },
      'cli may not use this package',
    ],
    [
      'a test room in what ships',
      { 'cli/main.ts': `${DOOR}import '../testing/index.ts';`, 'testing/index.ts': DOOR },
      'that is for tests',
    ],
    ['a test in what ships', { 'cli/main.ts': `${DOOR}import '../policy/a.test.ts';` }, 'that is for tests'],
    [
      'Node in a pure room',
      { 'policy/index.ts': `${DOOR}import { readFileSync } from 'node:fs';` },
      'policy may not use it',
    ],
    ['a way out of src', { 'cli/main.ts': `${DOOR}import '../../bench/sink.ts';` }, 'outside of src'],
    ['a door without a word', { 'policy/index.ts': 'export {};' }, 'opens without saying'],
    ['a room without a door', { 'policy/decide.ts': '' }, 'has no index.ts'],
    ['a room that nobody planned', { 'extras/index.ts': DOOR }, 'a room that the table does not name'],
    ['a bucket', { 'policy/index.ts': DOOR, 'policy/utils.ts': '' }, 'say what is in it'],
    ['a bucket as a folder', { 'policy/index.ts': DOOR, 'policy/helpers/a.ts': '' }, 'say what is in it'],
    [
      'a cycle',
      { 'cli/main.ts': `${DOOR}import '../posthorn.ts';`, 'posthorn.ts': `import './cli/main.ts';` },
      'cycle: cli → posthorn → cli',
    ],
  ])('%s', (_, files, expected) => {
    expect(planted(files)).toEqual([expect.stringContaining(expected)]);
  });

  it('and lawful imports are left alone', () => {
    expect(
      planted({
        'model/index.ts': DOOR,
        'errors.ts': '',
        'policy/index.ts': `${DOOR}export { decide } from './decide.ts'; // import 'undici'`,
        'policy/decide.ts': `import { invalid } from '../errors.ts'; import type { A } from '../model/index.ts';`,
        'policy/decide.test.ts': `import { it } from 'vitest'; import '../store/sqlite/index.ts';`,
        'store/index.ts': DOOR,
        'store/sqlite/index.ts': `${DOOR}import type { Store } from '../store.ts'; import('@photostructure/sqlite');`,
      }),
    ).toEqual([]);
  });
});
