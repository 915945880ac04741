import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Catalog } from '../../src/protocol/catalog.ts';
import type { ResourceDirective } from '../../src/protocol/publish-messages.ts';
import type { IndexEntry } from '../../src/protocol/signed-files.ts';
import { publishCatalogs } from '../../src/publisher/publish.ts';
import { refreshIndexes, resignEverything } from '../../src/publisher/renew-indexes.ts';
import { catalogOf } from '../../src/rules/self-hosted/content.ts';
import {
  type Held,
  makeTree,
  newSigningKey,
  readTree,
  servedFiles,
  type TestTree,
} from '../support/hosted/published-tree.ts';

// After any change of a published tree, a reader that starts from any earlier state of it reaches exactly what is published now, and everything on
// the way verifies (self-hosted spec: Cutover rule; Versioning; Limits). One property, with its environment, so longer than our other tests.

const cycleMs = 86_400_000;
const catalogIds = ['https://example.org/a', 'https://example.org/b'] as const;

describe('a reader of a published tree', () => {
  it('reaches the current catalogs from every earlier state, whatever was done meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
        const world = await openWorld();
        try {
          for (const one of steps) {
            await act(world, one);
            await check(world);
          }
        } finally {
          await world.tree.remove();
        }
      }),
      { numRuns: 30, endOnFailure: true },
    );
  });
});

/** The expected state of a catalog, without the lists that only the files of a tree need. */
interface Expected {
  catalog: Catalog;
  directives: Map<string, ResourceDirective>;
  isActive: boolean;
  networkIds: string[] | undefined;
}

interface World {
  tree: TestTree;
  now: Date;
  expected: Map<string, Expected>;
  retired: Set<string>;
  /** The state of readers after each step. */
  readers: Map<string, Held>[];
  /** The entries after the last step. */
  entries: Map<string, IndexEntry>;
  /** Every file that was ever served, and when a change was first superseded. */
  seen: Map<string, Buffer>;
  supersededAt: Map<string, Date>;
}

type Step =
  | {
      do: 'publish';
      id: string;
      catalog: Omit<Catalog, 'id'>;
      mode: Mode;
      networkIds?: string[];
      extending: string[];
      force: boolean;
    }
  | { do: 'retire' | 'pause' | 'resume'; id: string }
  | { do: 'baselines' | 'refresh' | 'resign' }
  | { do: 'wait'; hours: number };
type Mode = 'MERGE' | 'FULL' | undefined;

const id = fc.constantFrom(...catalogIds);
const resources = fc.uniqueArray(
  fc.record({
    id: fc.constantFrom('r0', 'r1', 'r2', 'r3', 'r4', 'r5'),
    descriptor: fc.record({ name: fc.constantFrom('x', 'y'), longDesc: fc.constant('z'.repeat(300)) }),
  }),
  { selector: (resource) => resource.id },
);
const offers = fc.uniqueArray(
  fc.record({
    id: fc.constantFrom('o0', 'o1', 'o2'),
    validity: fc.constantFrom({}, { endDate: '2030-01-01' }),
  }),
  { selector: (offer) => offer.id },
);
const catalog: fc.Arbitrary<Omit<Catalog, 'id'>> = fc
  .record(
    {
      descriptor: fc.record({ name: fc.constantFrom('A', 'B') }),
      provider: fc.constant({ id: 'p', descriptor: { name: 'P' } }),
      resources,
      offers,
      isActive: fc.boolean(),
      validity: fc.constantFrom({ startDate: '2026-01-01' }, { endDate: '2030-01-01' }),
    },
    { requiredKeys: ['descriptor', 'provider', 'resources'] },
  )
  .map((drawn) => drawn as Omit<Catalog, 'id'>);
const publishStep: fc.Arbitrary<Step> = fc
  .record(
    {
      do: fc.constant('publish' as const),
      id,
      catalog,
      mode: fc.constantFrom<Mode>(undefined, 'MERGE', 'FULL'),
      networkIds: fc.constantFrom(['a/x'], ['a/x', 'b/y']),
      extending: fc.subarray(['r0', 'r2', 'r4']),
      force: fc.constantFrom(false, false, false, true),
    },
    { requiredKeys: ['do', 'id', 'catalog', 'mode', 'extending', 'force'] },
  )
  .map((drawn) => drawn as Step);
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: publishStep, weight: 12 },
  { arbitrary: fc.record({ do: fc.constantFrom('pause' as const, 'resume' as const), id }), weight: 3 },
  { arbitrary: fc.record({ do: fc.constant('retire' as const), id }), weight: 1 },
  { arbitrary: fc.record({ do: fc.constantFrom('baselines' as const, 'refresh' as const) }), weight: 3 },
  { arbitrary: fc.record({ do: fc.constant('resign' as const) }), weight: 1 },
  {
    arbitrary: fc.record({ do: fc.constant('wait' as const), hours: fc.integer({ min: 1, max: 40 }) }),
    weight: 4,
  },
);

async function openWorld(): Promise<World> {
  const world = {
    now: new Date('2026-11-15T00:00:00.000Z'),
    expected: new Map<string, Expected>(),
    retired: new Set<string>(),
    readers: [new Map<string, Held>()],
    entries: new Map<string, IndexEntry>(),
    seen: new Map<string, Buffer>(),
    supersededAt: new Map<string, Date>(),
  };
  const tree = await makeTree({
    now: () => made.now,
    limits: { compactionChanges: 3, compactionFraction: 2 },
  });
  const made: World = { ...world, tree };
  return made;
}

async function act(world: World, one: Step): Promise<void> {
  const { tree, expected, retired } = world;
  world.now = new Date(world.now.getTime() + 60_000);
  switch (one.do) {
    case 'publish':
      return publish(world, one);
    case 'wait':
      world.now = new Date(world.now.getTime() + one.hours * 3_600_000);
      return;
    case 'refresh':
      return refreshIndexes(tree);
    case 'baselines':
      await publishCatalogs(tree, { forceBaseline: true });
      return;
    case 'resign': {
      const { key } = newTreeKey(tree);
      world.tree = { ...tree, key };
      world.supersededAt.clear();
      await resignEverything(world.tree);
      return;
    }
    default: {
      const known = expected.get(one.id);
      const { results } = await publishCatalogs(tree, { [one.do]: [one.id] });
      const again = one.do === 'retire' && retired.has(one.id);
      expect(results[0]?.status).toBe(known || again ? 'ACCEPTED' : 'REJECTED');
      if (!known) return;
      if (one.do === 'retire') {
        expected.delete(one.id);
        retired.add(one.id);
      } else {
        known.isActive = one.do === 'resume';
        // The operator's action overrides the catalog's own value: a resumed catalog says that it is active, a paused one leaves that to its entry.
        if (known.catalog.isActive === false) known.catalog.isActive = known.isActive ? true : undefined;
      }
    }
  }
}

function newTreeKey({ key }: TestTree) {
  return { key: newSigningKey(`key-${Number(key.recordId.slice(4)) + 1}`) };
}

async function publish(world: World, one: Extract<Step, { do: 'publish' }>): Promise<void> {
  const { expected, retired, tree } = world;
  const submitted = { id: one.id, ...one.catalog };
  const resourceDirectives = one.extending
    .filter((resourceId) => submitted.resources?.some((resource) => resource.id === resourceId))
    .map((resourceId) => ({ resourceId, extends: { masterResourceId: `m-${resourceId}` } }));
  const directive = {
    catalogId: one.id,
    catalogType: 'REGULAR' as const,
    ...(one.mode && { updateMode: one.mode }),
    ...(one.networkIds && { visibleTo: one.networkIds }),
    resourceDirectives,
  };
  const { results } = await publishCatalogs(tree, {
    message: { catalogs: [submitted], publishDirectives: [directive] },
    ...(one.force && { forceBaseline: true }),
  });

  const before = expected.get(one.id);
  const kept = one.mode === 'MERGE' ? before : undefined;
  const merged = {
    ...kept?.catalog,
    ...submitted,
    resources: upserted(kept?.catalog.resources, submitted.resources),
    offers: upserted(kept?.catalog.offers, submitted.offers),
  };
  const isEmpty = merged.resources.length + merged.offers.length === 0;
  expect(results[0]?.status).toBe(retired.has(one.id) || isEmpty ? 'REJECTED' : 'ACCEPTED');
  if (results[0]?.status === 'REJECTED') return;
  const isPaused = before?.isActive === false && before.catalog.isActive !== false;
  expected.set(one.id, {
    catalog: merged,
    directives: new Map([
      ...(kept?.directives ?? []),
      ...resourceDirectives.map((item): [string, ResourceDirective] => [item.resourceId, item]),
    ]),
    isActive: submitted.isActive ?? (isPaused ? false : (merged.isActive ?? true)),
    networkIds: one.networkIds ?? kept?.networkIds,
  });
}

async function check(world: World): Promise<void> {
  const { tree, expected, retired, readers } = world;
  const latest = await readTree(tree);
  expect(new Set(latest.keys())).toEqual(new Set([...expected.keys(), ...retired]));
  for (const [catalogId, { entry, held }] of latest) {
    const wanted = expected.get(catalogId);
    checkVersion(world.entries.get(catalogId), entry);
    world.entries.set(catalogId, entry);
    expect(held === undefined).toBe(retired.has(catalogId));
    if (!wanted || !held) continue;
    expect(comparable(catalogOf(held.content))).toEqual(comparable(wanted.catalog));
    expect(held.content.directives).toEqual(wanted.directives);
    expect(entry.isActive).toBe(wanted.isActive);
    expect(entry.networkIds).toEqual(wanted.networkIds);
    trackSuperseded(world, entry);
  }
  for (const earlier of readers) {
    for (const cutoverFraction of [0, 0.5, Number.POSITIVE_INFINITY]) {
      const read = await readTree(tree, { held: earlier, cutoverFraction });
      for (const [catalogId, { held }] of read) expect(held).toEqual(latest.get(catalogId)?.held);
    }
  }
  readers.push(new Map([...latest].flatMap(([catalogId, { held }]) => (held ? [[catalogId, held]] : []))));
  await checkFiles(world, latest.values());
}

/** An entry with different content has a higher version. */
function checkVersion(before: IndexEntry | undefined, after: IndexEntry): void {
  if (before?.entryVersion === after.entryVersion) expect(after).toEqual(before);
  else expect(after.entryVersion).toBeGreaterThan(before?.entryVersion ?? 0);
}

function trackSuperseded({ supersededAt, now }: World, { baseline, changes }: IndexEntry): void {
  for (const { url, toVersion } of changes) {
    if (baseline && toVersion <= baseline.version && !supersededAt.has(url)) supersededAt.set(url, now);
  }
}

/** No path ever has two contents; superseded changes stay listed for a cycle, and on disk for another. */
async function checkFiles(
  { tree, seen, supersededAt, now }: World,
  catalogs: Iterable<{ entry: IndexEntry }>,
): Promise<void> {
  const files = await servedFiles(tree);
  for (const [path, bytes] of files) {
    if (!path.startsWith('catalogs/')) continue;
    expect(bytes.equals(seen.get(path) ?? bytes)).toBe(true);
    seen.set(path, bytes);
  }
  const entries = [...catalogs].map(({ entry }) => entry).filter(({ retiredAt }) => retiredAt === undefined);
  const listed = new Set(entries.flatMap(({ changes }) => changes.map(({ url }) => url)));
  const locals = entries.map(({ baseline }) =>
    baseline?.url
      .replace(/\.v\d+\..*$/, '')
      .split('/')
      .at(-1),
  );
  for (const [url, since] of supersededAt) {
    if (!locals.some((local) => url.includes(`/${local}.v`))) continue; // retired meanwhile
    const age = now.getTime() - since.getTime();
    if (age < cycleMs) expect(listed).toContain(url);
    if (age < 2 * cycleMs) expect(files.has(url.slice(tree.baseUrl.length + 1))).toBe(true);
  }
}

function comparable({ resources = [], offers = [], ...members }: Catalog) {
  return { members, resources: new Set(resources), offers: new Set(offers) };
}

function upserted<T extends { id: string }>(kept: readonly T[] = [], items: readonly T[] = []): T[] {
  return [...new Map([...kept, ...items].map((item) => [item.id, item])).values()];
}
