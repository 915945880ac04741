import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importsIn, layers, leaves } from '../../scripts/house.mjs';
import { countTimers, timers } from '../support/database/timers.ts';
import { longest } from '../support/longest-first.ts';

// Imports go one way, in the order of scripts/house.mjs. Longer than our other tests, because all rules read the same import lines.

/** Layers without clock, files or sockets: they may import only pure modules of Node. `node:module` loads Ajv where a schema is compiled. */
const pureFolders = ['protocol', 'rules', 'import', 'demo'];
const pureBuiltins = ['node:crypto', 'node:buffer', 'node:util', 'node:net', 'node:zlib', 'node:module'];

/** The files of `search` that others may import, and the number of names; also files that commands load without the engine. */
const searchDoor = join('search', 'port.ts');
const searchStatus = join('search', 'status.ts');
const maxNamesOfDoor = 25;

/** The folders and files right below `search`, from bottom to top: each imports only those before it. */
const orderOfSearch = [
  ...['validity.ts', 'keys.ts', 'deadline.ts', 'trace.ts', 'set', 'hit.ts', 'cache', 'entries', 'lists'],
  ...['documents', 'evaluation.ts', 'tools.ts', 'text', 'spatial', 'filter', 'plan.ts', 'confirm'],
  ...[
    'opensearch',
    'find-hits.ts',
    'build-page.ts',
    'generations',
    'search.ts',
    'write',
    'upkeep',
    'near-misses',
    'why',
    'status.ts',
  ],
  'port.ts',
];

const root = 'src';
const clientSource = join('packages', 'client', 'src');
const pageSource = join('web', 'src');
const files = readdirSync(root, { recursive: true })
  .map(String)
  .filter((name) => name.endsWith('.ts'));

describe('the architecture', () => {
  it('is read from every form of import', () => {
    const text = `import { a } from './a.ts';
      export * from './b.ts';
      import type {
        C,
      } from './c.ts';
      import './d.ts';
      const e = await import('./e.ts');
      let f: import('./f.ts').F;`;
    const found = importsIn(text).map((target) => target[2]);
    expect(found.sort().join('')).toBe('abcdef');
  });

  it('lets imports go one way only', () => {
    const wrong = files.flatMap((file) =>
      targetsOf(file)
        .filter((target) => !isAllowed(file, target))
        .map((target) => `${file} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('sees files that import each other, and not those that only lead there', () => {
    const graph = { a: ['b'], b: ['c'], c: ['b', 'd'], d: [], e: ['e'] };
    expect(findCircles(new Map(Object.entries(graph)))).toEqual(['b', 'c', 'e']);
  });

  it('has no circle of imports, not even of types', () => {
    const sources = [root, clientSource, pageSource].flatMap((folder) =>
      readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name))),
    );
    const graph = sources
      .filter((file) => /\.tsx?$/.test(file))
      .map((file): [string, string[]] => [
        file,
        importsIn(readFileSync(file, 'utf8')).map((target) => normalize(join(dirname(file), target))),
      ]);
    expect(findCircles(new Map(graph))).toEqual([]);
  });

  it('lets the owners in storage use its base and due work, never each other', () => {
    const wrong = files
      .filter((file) => roomOf(file) === 'storage' && !file.endsWith('.test.ts'))
      .flatMap((file) => targetsOf(file).map((target) => ({ file, target })))
      .filter(({ target }) => roomOf(target) === 'storage')
      .filter(({ file, target }) => {
        const [source, used] = [ownerOf(file), ownerOf(target)];
        return !(used === source || used === 'base' || (used === 'work' && source !== 'base'));
      });
    expect(wrong).toEqual([]);
  });

  it('sees who reaches into the search engine beside its door', () => {
    const [door, inside] = [searchDoor, join('search', 'plan.ts')];
    expect(reachesInto(join('discovery', 'discover.ts'), [door, join('storage', 'database.ts')])).toEqual([]);
    expect(reachesInto(join('search', 'search.ts'), [inside])).toEqual([]);
    expect(reachesInto(join('discovery', 'discover.ts'), [door, inside])).toEqual([inside]);
    expect(reachesInto(join('storage', 'database.test.ts'), [inside])).toEqual([inside]);
  });

  it('sees every name that a module exports', () => {
    const text = `export interface A { a: 1 }
      export type B = A;
      export const c = 1;
      export async function d() {}
      export class E {}
      export { f, type G, h as i } from './a.ts';
      export type {
        J,
      } from './b.ts';`;
    expect(exportsIn(text).sort()).toEqual(['A', 'B', 'E', 'G', 'J', 'c', 'd', 'f', 'i']);
    expect(exportsIn("export * from './all.ts';")).toEqual(['*']);
  });

  it('lets the rest of the house use the search engine by its one door, through which few names go', () => {
    const reaching = files.flatMap((file) =>
      reachesInto(file, targetsOf(file)).map((target) => `${file} imports ${target}`),
    );
    expect(reaching).toEqual([]);
    const names = exportsIn(readFileSync(join(root, searchDoor), 'utf8'));
    expect(names).not.toContain('*');
    expect(names.length).toBeLessThanOrEqual(maxNamesOfDoor);
  });

  it('has the parts of the search engine in one order, in which each imports only those before it', () => {
    const inside = files.filter((file) => roomOf(file) === 'search' && !file.endsWith('.test.ts'));
    const partOf = (file: string) => file.split(sep)[1] ?? '';
    expect([...new Set(inside.map(partOf))].sort()).toEqual([...orderOfSearch].sort());
    const placeOf = (file: string) => orderOfSearch.indexOf(partOf(file));
    const wrong = inside.flatMap((file) =>
      targetsOf(file)
        .filter((target) => roomOf(target) === 'search' && placeOf(target) > placeOf(file))
        .map((target) => `${file} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('keeps what is said, what follows from it and what is imported free of input and output', () => {
    const wrong = files
      .filter((file) => pureFolders.includes(roomOf(file)) && !file.endsWith('.test.ts'))
      .flatMap((file) => importsOf(file).map((target) => ({ file, target })))
      .filter(({ target }) => target.startsWith('node:') && !pureBuiltins.includes(target));
    expect(wrong).toEqual([]);
  });

  it('knows every folder', () => {
    const known = [...layers.flat(), ...leaves];
    const rooms = new Set(files.filter((file) => !file.endsWith('.test.ts')).map(roomOf));
    expect([...rooms].filter((room) => !known.includes(room))).toEqual([]);
  });

  it('counts the members of contexts, in whatever form they are declared', () => {
    const text = `interface AContext {
  /** Comment: not a member. */
  a: 1;
  b(): 2;
}
export interface BContext extends Omit<AContext, 'a'>, Pick<OtherContext, 'c' | 'd'> {
  e: {
    f: 1;
  };
}
type CContext = BContext & {
  g?: 1;
};
type DContext = Pick<BContext, 'e'> &
  Partial<Pick<AContext, 'b'>>;
const EContext = Type.Object({});
export type EContext = Static<typeof EContext>;`;
    const countMembers = countIn(contextsIn(text));
    expect(['A', 'B', 'C', 'D', 'E'].map((name) => countMembers(`${name}Context`))).toEqual([2, 4, 5, 2, 0]);
  });

  it('gives each service a context of at most ten members', () => {
    const declared = files
      .filter((file) => !file.endsWith('.test.ts'))
      .flatMap((file) => contextsIn(readFileSync(join(root, file), 'utf8')));
    const names = declared.map(({ name }) => name);
    expect(names).toContain('ServiceContext');
    const countMembers = countIn(declared);
    expect(names.filter((name) => countMembers(name) > 10)).toEqual([]);
  });

  it('keeps files short: none passes 500 lines', () => {
    const long = files.filter((file) => readFileSync(join(root, file), 'utf8').split('\n').length > 500);
    expect(long).toEqual([]);
  });

  it('has its tests wait by tests/support/time.ts alone: until something happens, or for a time that has a reason', () => {
    const tests = [
      ...files.filter((file) => file.endsWith('.test.ts')).map((file) => join(root, file)),
      ...readdirSync('tests', { recursive: true }).map((file) => join('tests', String(file))),
      ...readdirSync(clientSource)
        .filter((file) => file.endsWith('.test.ts'))
        .map((file) => join(clientSource, file)),
    ].filter((file) => file.endsWith('.ts') && file !== join('tests', 'support', 'time.ts'));
    const timer = /\bsetTimeout(?:\(| as )/;
    expect(tests.filter((file) => timer.test(readFileSync(file, 'utf8')))).toEqual([]);
  });

  it('has the files that ARCHITECTURE.md names', () => {
    const known = ['src', 'packages/client', 'build', 'migrations', 'tests', 'docs'].flatMap((folder) =>
      readdirSync(folder, { recursive: true }).map((file) => `/${folder}/${file}`),
    );
    const named = readFileSync('ARCHITECTURE.md', 'utf8').matchAll(/`([\w/.-]+\.(?:ts|sql|md))`/g);
    const missing = Array.from(named, ([, file = '']) => file).filter(
      (file) => !known.some((path) => path.endsWith(`/${file}`)),
    );
    expect(missing).toEqual([]);
  });

  it('has no timer but those whose statements tests/long/idle.test.ts looks at', () => {
    const known = Object.entries(timers).map(([file, kinds]) => [file, kinds.length]);
    expect(countTimers()).toEqual(Object.fromEntries(known));
  });

  it('has the test files that are begun first', () => {
    expect(longest.filter((file) => !existsSync(file))).toEqual([]);
  });

  it('reads the environment at one place', () => {
    const readers = files
      .filter((file) => !file.endsWith('.test.ts'))
      .filter((file) => /process\.env\b/.test(readFileSync(join(root, file), 'utf8')));
    expect(readers).toEqual(['cli/main.ts']);
  });
});

/**
 * Sources of the server that the client package may use: messages, trust and verification of published files, readers of hits, public addresses, the
 * rule for whose callback counts, and two pure helpers.
 */
const sourcesOfClient = [
  /^src\/protocol\//,
  /^src\/rules\/self-hosted\//,
  /^src\/discovery\/(?:crawl\/(?:places|reasons)|inspect\/(?:findings|tree-directory|tree-reader|verify-node|verify-tree))\.ts$/,
  /^src\/rules\/(?:hit|prices|ranked|same-value)\.ts$/,
  /^src\/delivery\/(?:await-callback|retry-policy|bodiless-signature)\.ts$/,
  /^src\/http\/public-addresses\.ts$/,
];

describe('the architecture of the client package', () => {
  const sources = readdirSync(clientSource)
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => join(clientSource, name));
  const imports = sources.flatMap((file) =>
    importsIn(readFileSync(file, 'utf8')).map((target) => ({ file, target })),
  );

  it('uses the protocol and pure helpers of the server, Node, and nothing else', () => {
    const wrong = imports.filter(({ file, target }) => {
      if (!target.startsWith('.')) return !target.startsWith('node:');
      const path = normalize(join(dirname(file), target)).replaceAll(sep, '/');
      return !sources.includes(normalize(path)) && !sourcesOfClient.some((allowed) => allowed.test(path));
    });
    expect(wrong).toEqual([]);
  });

  it('keeps files short: none passes 300 lines', () => {
    const long = sources.filter((file) => readFileSync(file, 'utf8').split('\n').length > 300);
    expect(long).toEqual([]);
  });
});

/** The page's own layers: a folder uses those before it, and no page uses another. */
const layersOfPage = [
  ['api', 'theme.ts'],
  ['router.ts'],
  ['ui'],
  ['map'],
  ['search'],
  ['shell', 'pages'],
  ['app.tsx'],
  ['main.tsx'],
];

describe('the architecture of the page', () => {
  const files = readdirSync(pageSource, { recursive: true }).map(String);
  const sources = files.filter((name) => /\.tsx?$/.test(name) && !name.endsWith('.d.ts'));
  const layerOf = (path: string) => layersOfPage.findIndex((layer) => layer.includes(roomOf(path)));
  const imports = sources.flatMap((file) =>
    importsIn(readFileSync(join(pageSource, file), 'utf8'))
      .filter((target) => target.startsWith('.') && /\.tsx?$/.test(target) && !target.includes('/src/'))
      .map((target) => ({ file, target: normalize(join(dirname(file), target)) })),
  );

  it('knows every folder, and lets imports go one way only', () => {
    expect(sources.filter((file) => layerOf(file) === -1)).toEqual([]);
    const isOwn = (file: string, target: string) =>
      roomOf(file) === roomOf(target) && (roomOf(file) !== 'pages' || dirname(file) === dirname(target));
    const wrong = imports.filter(
      ({ file, target }) =>
        !isOwn(file, target) && !(layerOf(target) !== -1 && layerOf(target) < layerOf(file)),
    );
    expect(wrong).toEqual([]);
  });

  it('takes of the server the types of its answers, and how an answer and its prices are read, which import only types', () => {
    const ofServer = /^\s*(import|export)\b[^;]*?'[^']*\/src\/[^']*'/gm;
    const bundled = ['prices', 'ranked'];
    const isBundled = (line: string) =>
      bundled.some((name) => line.endsWith(` from '../../../../src/rules/${name}.ts'`));
    const typesOfAnswers = /^\s*import type \{[^}]*\} from '(?:\.\.\/)+src\/console\/answers\/[\w-]+\.ts'$/;
    const found = sources.flatMap((file) =>
      [...readFileSync(join(pageSource, file), 'utf8').matchAll(ofServer)].map(([line]) => line.trim()),
    );
    expect(found.length).toBeGreaterThan(0);
    expect(found.filter((line) => !typesOfAnswers.test(line) && !isBundled(line))).toEqual([]);
    expect(found.filter(isBundled)).toHaveLength(bundled.length);
    for (const name of bundled)
      expect(readFileSync(join(root, 'rules', `${name}.ts`), 'utf8')).not.toMatch(/^import (?!type )/m);
  });

  it('shows texts of others as text: nothing in it makes markup of a string, but for the labels of the map', () => {
    const makesMarkup =
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|bindPopup|bindTooltip|\bhtml:/;
    const found = sources.filter((file) => makesMarkup.test(readFileSync(join(pageSource, file), 'utf8')));
    expect(found.toSorted()).toEqual(
      ['base-map.ts', 'city.ts', 'clusters.ts'].map((name) => join('map', name)),
    );
  });

  it('keeps files short: none passes 300 lines', () => {
    const written = [...sources, ...files.filter((name) => name.endsWith('.css'))];
    const long = written.filter(
      (file) => readFileSync(join(pageSource, file), 'utf8').split('\n').length > 300,
    );
    expect(long).toEqual([]);
  });
});

/** The files of ours that a file imports, from the root. */
function targetsOf(file: string): string[] {
  return importsOf(file)
    .filter((target) => target.startsWith('.'))
    .map((target) => normalize(join(dirname(file), target)));
}

function importsOf(file: string): string[] {
  return importsIn(readFileSync(join(root, file), 'utf8'));
}

/**
 * Files that are part of an import cycle, or between two: the ones left after repeatedly removing files that import none of the others, or that none imports.
 */
function findCircles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const left = new Map(graph);
  for (;;) {
    const imported = new Set([...left.values()].flat());
    const free = [...left].filter(
      ([file, targets]) => !imported.has(file) || !targets.some((target) => left.has(target)),
    );
    if (free.length === 0) return [...left.keys()];
    for (const [file] of free) left.delete(file);
  }
}

/** Files of the search engine that an outside file imports without using its door. */
function reachesInto(file: string, targets: readonly string[]): string[] {
  if (roomOf(file) === 'search') return [];
  return targets.filter(
    (target) => roomOf(target) === 'search' && ![searchDoor, searchStatus].includes(target),
  );
}

/** The names that a module exports; '*' if it re-exports another module. */
function exportsIn(text: string): string[] {
  const declared = /^\s*export\s+(?:async\s+)?(?:interface|type|const|let|function\*?|class)\s+(\w+)/gm;
  const listed = /^\s*export\s+(?:type\s+)?\{([^}]*)\}/gm;
  const names = [...text.matchAll(listed)].flatMap(([, list = '']) => list.split(','));
  return [
    ...[...text.matchAll(declared)].map(([, name = '']) => name),
    ...names.map((name) => name.trim().split(/\s+/).at(-1) ?? '').filter((name) => name !== ''),
    ...[...text.matchAll(/^\s*export\s+\*/gm)].map(() => '*'),
  ];
}

interface DeclaredContext {
  name: string;
  /** Its own members. */
  members: number;
  /** The extended types, with the number of members picked from each, or omitted. */
  extended: { of: string; picked?: number; omitted?: number }[];
}

/** The interfaces and types of a file whose name ends with Context. */
function contextsIn(text: string): DeclaredContext[] {
  const declared = /^(?:export )?(?:interface|type) (\w+Context)\b([^{;]*)(?:\{\n([\s\S]*?)^\})?/gm;
  const base = /(?<!typeof )\b(?:(Pick|Omit)<)?(\w+Context)\b(?:,([^>]*)>)?/g;
  return [...text.matchAll(declared)].map(([, name = '', heritage = '', body = '']) => ({
    name,
    members: [...body.matchAll(/^ {2}\w+\??[:(<]/gm)].length,
    extended: [...heritage.matchAll(base)].map(([, how, of = '', names]) => {
      const count = names?.split('|').length;
      return how === 'Omit' ? { of, omitted: count } : { of, picked: count };
    }),
  }));
}

function countIn(declared: readonly DeclaredContext[]): (name: string) => number {
  const contexts = new Map(declared.map((context) => [context.name, context]));
  const count = (name: string): number => {
    const { members = 0, extended = [] } = contexts.get(name) ?? {};
    return extended.reduce(
      (sum, { of, picked, omitted = 0 }) => sum + (picked ?? count(of) - omitted),
      members,
    );
  };
  return count;
}

/** The first folder of a path, or the file itself at the root. */
function roomOf(path: string): string {
  return path.split(sep)[0] ?? path;
}

/** The owner of a file's folder in storage. */
function ownerOf(path: string): string {
  const [, folder, ...rest] = path.split(sep);
  return rest.length > 0 && folder !== undefined ? folder : 'base';
}

function isAllowed(from: string, to: string): boolean {
  const [source, target] = [roomOf(from), roomOf(to)];
  if (source === target || from.endsWith('.test.ts')) return true;
  if (leaves.includes(target)) return true;
  const layerOf = (room: string) => layers.findIndex((layer) => layer.includes(room));
  return !leaves.includes(source) && layerOf(target) !== -1 && layerOf(target) < layerOf(source);
}
