import { randomUUID } from 'node:crypto';
import type { Resource } from '../protocol/catalog.ts';
import { generateSeed, privateKeyFromSeed, type SigningKey } from '../protocol/keys.ts';
import type { FileReference } from '../publisher/seal.ts';
import { alter, type HostedTree, manifestName, type NodeBend, recordName } from './hosted-tree.ts';
import type { Samples } from './sample-catalogs.ts';

// The files hosted for a crawler, in six stages. The first has valid and invalid catalogs. In the second, they change. In the third, paused and
// retired catalogs return. In the others, the path to the indexes is wrong: each leads to a different index, whose catalog must not be indexed.

interface CrawlStage {
  reads: readonly string[];
  write(): void;
}

interface CrawlStagesOptions {
  tree: HostedTree;
  samples: Samples;
  networkId: string;
  /** A key in the manifest that the registry does not have. */
  strangerKey: SigningKey;
}

export const soundCatalogs = [
  ...['sound', 'change-digest', 'change-signed', 'entry-rollback', 'content-rollback', 'absent', 'retired'],
] as const;

const firstVersion = 5;
const fileUpdateMs = 86_400_000;
const lastVersion = 1_000;

export function createCrawlStages({ tree, samples, networkId, strangerKey }: CrawlStagesOptions) {
  const { id, charger } = samples;
  const retiredAt = new Date().toISOString();
  // The files announce a later update than their index, which is allowed.
  const next_update = new Date(Date.now() + fileUpdateMs).toISOString();
  const catalogs = new Set<string>();
  const facts = { catalogType: 'REGULAR', networkIds: [networkId] };
  const mainIndex = id('index.json');

  const signed: Finish = (document) => tree.sign(document);
  const altered: Finish = (document) => alter(tree.sign(document));
  const byStranger: Finish = (document) => tree.sign(document, strangerKey);

  /** By default, it has one charger, with the name of the catalog. */
  function baseline(name: string, options: BaselineOptions = {}) {
    const { version = firstVersion, catalogId = id(name), finish = signed } = options;
    const { resources = [charger(name)], fileName = baselineName(name, version) } = options;
    const catalog = { ...samples.catalog(name, { resources }), id: catalogId };
    const file = tree.host(id(fileName), finish({ catalogId, version, next_update, catalog }));
    return { version, ...file };
  }

  function change(
    name: string,
    { fromVersion = firstVersion, upsert = `${name}-2`, removals = [] as string[], finish = signed } = {},
  ) {
    const toVersion = fromVersion + 1;
    const document = {
      ...{ catalogId: id(name), fromVersion, toVersion, next_update },
      resources: { upserts: [charger(upsert)], removals },
      offers: { upserts: [], removals: [] },
    };
    const file = tree.host(id(changeName(name, toVersion)), finish(document));
    return { version: toVersion, fromVersion, toVersion, ...file };
  }

  /** @param raised growth of its entryVersion since the first stage */
  function entry(
    name: string,
    raised: number,
    given: { isActive?: boolean; baseline?: object; changes?: object[] } = {},
    finish = signed,
  ): object {
    catalogs.add(name);
    const versioned = { catalogId: id(name), entryVersion: firstVersion + raised, ...facts };
    const { isActive = true, baseline: file = baseline(name), changes = [] } = given;
    return finish({ ...versioned, isActive, baseline: file, changes });
  }

  function retiredEntry(name: string, entryVersion: number): object {
    return tree.sign({ catalogId: id(name), entryVersion, ...facts, retiredAt });
  }

  function sound(raised: number): object {
    const resources = [charger('sound'), charger('removed'), charger('shared')];
    const changes = [
      change('sound', { removals: [id('removed')] }),
      change('sound', { fromVersion: firstVersion + 1, upsert: 'sound-3' }),
    ];
    return entry('sound', raised, {
      ...{ baseline: baseline('sound', { resources }), changes: changes.slice(0, raised) },
    });
  }

  function writeFirst(): void {
    const oneWrong = [charger('attributes-checked'), charger('toaster', { type: 'TOASTER' })];
    const oneShared = [charger('retired'), charger('shared')];
    const main = tree.index(mainIndex, [
      sound(0),
      ...soundCatalogs.filter((name) => name !== 'sound' && name !== 'retired').map((name) => entry(name, 0)),
      entry('retired', 0, { baseline: baseline('retired', { resources: oneShared }) }),
      entry('gzipped', 0, { baseline: baseline('gzipped', { fileName: gzippedName('gzipped') }) }),
      entry('entry-signed', 0, {}, altered),
      entry('file-signed', 0, { baseline: baseline('file-signed', { finish: altered }) }),
      entry('file-digest', 0, { baseline: withOtherDigest(baseline('file-digest')) }),
      entry('key-registered', 0, { baseline: baseline('key-registered', { finish: byStranger }) }),
      entry('file-of-entry', 0, {
        baseline: baseline('file-of-entry', { catalogId: id('of-another-entry') }),
      }),
      entry('file-version', 0, { baseline: { ...baseline('file-version'), version: firstVersion + 1 } }),
      entry('attributes-checked', 0, { baseline: baseline('attributes-checked', { resources: oneWrong }) }),
      entry('paused', 0, { isActive: false }),
    ]);
    const changed = tree.index(id('altered.json'), [entry('index-signed', 0)], { isAltered: true });
    const foreign = tree.index(id('foreign.json'), [entry('index-of-node', 0)], {
      nodeId: 'conform.example',
    });
    tree.announce([main, changed, foreign]);
  }

  function other(name: string, raised: number) {
    return baseline(name, { version: firstVersion + raised, resources: [charger(`${name}-2`)] });
  }

  function changedEntries(): object[] {
    return [
      entry('change-digest', 1, { changes: [withOtherDigest(change('change-digest'))] }),
      entry('change-signed', 1, { changes: [change('change-signed', { finish: altered })] }),
      entry('entry-rollback', -1, { baseline: other('entry-rollback', 1) }),
      entry('content-rollback', 1, { baseline: other('content-rollback', -1) }),
    ];
  }

  function writeSecond(): void {
    const stopped = [entry('paused', 0, { isActive: false }), retiredEntry('retired', firstVersion + 1)];
    tree.announce([tree.index(mainIndex, [sound(1), ...changedEntries(), ...stopped])]);
  }

  function thirdIndex(): string {
    const returned = [entry('paused', 1), entry('retired', 2, { baseline: other('retired', 1) })];
    return tree.index(mainIndex, [sound(2), ...changedEntries(), ...returned]);
  }

  const misleading = (bend: NodeBend, ...reads: string[]): CrawlStage => ({
    reads,
    write: () => tree.announce([thirdIndex(), tree.index(id(`${bend}.json`), [entry(bend, 0)])], bend),
  });

  const baselines = soundCatalogs.map((name) => id(baselineName(name)));
  const stages: CrawlStage[] = [
    { reads: [manifestName, recordName, mainIndex, ...baselines], write: writeFirst },
    { reads: [mainIndex], write: writeSecond },
    { reads: [mainIndex], write: () => tree.announce([thirdIndex()]) },
    misleading('record-digest', recordName),
    misleading('record-signature', recordName),
    misleading('manifest-signature', manifestName),
  ];
  return {
    stages,
    retireCatalogs() {
      const entries = [...catalogs].map((name) => retiredEntry(name, lastVersion));
      tree.announce([tree.index(mainIndex, entries)]);
    },
  };
}

export function createStrangerKey({ subscriberId }: SigningKey): SigningKey {
  const recordId = `conform-${randomUUID().slice(0, 8)}`;
  return { subscriberId, recordId, privateKey: privateKeyFromSeed(generateSeed()) };
}

export function baselineName(name: string, version = firstVersion): string {
  return `${name}.v${version}.json`;
}

export function gzippedName(name: string): string {
  return `${baselineName(name)}.gz`;
}

export function changeName(name: string, version = firstVersion + 1): string {
  return `${name}.v${version}.changes.json`;
}

type Finish = (document: object) => object;

interface BaselineOptions {
  version?: number;
  resources?: Resource[];
  catalogId?: string;
  fileName?: string;
  finish?: Finish;
}

function withOtherDigest<T extends FileReference>(reference: T): T {
  return { ...reference, digest: reference.digest.replace(/[0-9a-f]{8}$/, '01234567') };
}
