import { type Check, CheckSkipped, clause } from './check.ts';
import type { CrawlScene } from './crawl-scene.ts';
import { baselineName, changeName, gzippedName } from './crawl-stages.ts';
import type { DiscoveryScene } from './discovery-scene.ts';
import { expectThat } from './expect.ts';

// Which catalogs a discovery service must index from a self-hosted node, and which not. The clauses about its log cannot be checked from outside.

export interface CrawledScene extends DiscoveryScene {
  /** A string is the reason why it cannot be checked. */
  crawl: CrawlScene | string;
}

const on = clause<CrawledScene>;
const order = 'Self-hosted spec: Discovery crawl order';
const authentication = 'Self-hosted spec: Authentication';
const errors = 'Self-hosted spec: Errors';
const index = 'Self-hosted spec: Catalog index';
const states = 'Self-hosted spec: States and transitions';

/** A clause with one check. */
const single = (text: string, key: string, run: Check<CrawledScene>['run']) => on(text, { [key]: run });

/** @param reads the file, besides manifest and index, that the service must have read before a fault can show */
const seen =
  (wanted: 'found' | 'gone' | 'never') =>
  (stage: number, resource: string, reads?: string) =>
  async (scene: CrawledScene) => {
    const crawl = started(scene);
    // A service that indexes nothing would pass most of these.
    if ((await crawl.missing()).length > 0) throw new CheckSkipped('not even valid catalogs are found');
    await crawl.reach(stage);
    if (reads !== undefined) await crawl.awaitRead(reads);
    if (wanted === 'never') return expectThat(!(await crawl.isFound(resource)), 'it is found');
    const actual = wanted === 'found' ? 'it is not found' : 'it is still found';
    expectThat(await crawl.becomes(resource, wanted), actual);
  };

const [found, gone, never] = [seen('found'), seen('gone'), seen('never')];

/** Catalogs of the first stage that must not be indexed. Keys: check name and condition; values: clause. */
const unindexed = (rows: Record<string, string>, reads?: (name: string) => string) =>
  Object.entries(rows).flatMap(([key, text]) => {
    const [name = '', when = ''] = key.split(': ');
    return single(text, `crawl-${name}: nothing from a catalog ${when}`, never(1, name, reads?.(name)));
  });

export const crawlChecks = [
  ...on('Self-hosted spec: What the service does', {
    'crawl-finds: the resources of catalogs whose signatures and digests are all valid': async (scene) => {
      const missing = await started(scene).missing();
      expectThat(missing.length === 0, `read, and not found: ${missing.join(', ')}`);
    },
  }),
  ...unindexed({
    'index-signed: in an index that was changed after signing': `${order}, 4`,
    'index-of-node: in an index of another node': `${index}, nodeId`,
    'entry-signed: whose entry was changed after signing': `${errors}, an index entry's signature fails`,
  }),
  // These show once the service has read their files.
  ...unindexed(
    {
      'file-signed: whose file was changed after signing': `${errors}, a catalog file's own signature fails`,
      'file-digest: whose file does not have the digest of its entry': `${errors}, file digest differs`,
      'key-registered: whose file is signed with a key that the manifest lists, but the registry does not have': `${authentication}, 1`,
      'file-of-entry: whose file is that of another catalog': `${index}, matched to the catalog by catalogId`,
      'file-version: whose file has another version than its entry declares': `${index}, baseline.version`,
      'attributes-checked: one of whose resources does not conform to its schema': `${errors}, domain schema check`,
    },
    baselineName,
  ),
  ...unindexed({ 'paused: whose entry is not active': `${states}, paused` }),
  ...single(
    'Self-hosted spec: Endpoints, optionally gzip compressed',
    'crawl-gzip: a catalog whose file is gzipped',
    found(1, 'gzipped', gzippedName('gzipped')),
  ),
  ...on('Self-hosted spec: Catalog file, baseline and change file', {
    'crawl-change-applied: a resource that a change file adds': found(2, 'sound-2', changeName('sound')),
    'crawl-change-removes: no longer a resource that a change file removes': gone(
      2,
      'removed',
      changeName('sound'),
    ),
  }),
  ...single(
    `${authentication}, 3`,
    'crawl-change-digest: nothing from a change file that does not have the digest of its entry',
    never(2, 'change-digest-2', changeName('change-digest')),
  ),
  ...single(
    `${authentication}, 1`,
    'crawl-change-signed: nothing from a change file that was changed after signing',
    never(2, 'change-signed-2', changeName('change-signed')),
  ),
  ...single(
    `${errors}, entryVersion lower than the stored cursor`,
    'crawl-entry-rollback: nothing from an entry whose entryVersion has regressed',
    never(2, 'entry-rollback-2'),
  ),
  ...single(
    `${errors}, a content version lower than the stored cursor`,
    'crawl-content-rollback: nothing from a baseline whose version has regressed',
    never(2, 'content-rollback-2'),
  ),
  ...single(
    `${errors}, a previously indexed catalogId is absent`,
    'crawl-absent-kept: a catalog that is no longer in the index, but was not retired',
    found(2, 'absent'),
  ),
  ...on(`${states}, retired`, {
    'crawl-retired: no longer a catalog whose entry has retiredAt': gone(2, 'retired'),
    'crawl-shared-kept: a resource of a retired catalog that another catalog has too': found(2, 'shared'),
  }),
  ...single(`${states}, active`, 'crawl-resumed: a catalog whose entry is active again', found(3, 'paused')),
  ...single(
    `${states}, one-way: never unset`,
    'crawl-retired-for-ever: nothing from a catalog that was retired, though its entry comes back without retiredAt',
    never(3, 'retired-2'),
  ),
  ...single(
    `${order}, 3`,
    'crawl-record-digest: nothing from an index that is listed by a Subscriber record without the digest of the manifest',
    never(4, 'record-digest'),
  ),
  ...single(
    `${authentication}, 2`,
    'crawl-record-signed: nothing from an index that is listed by a Subscriber record that was changed after signing',
    never(5, 'record-signature'),
  ),
  ...single(
    `${order}, 2`,
    'crawl-manifest-signed: nothing from an index that is listed through a manifest that was changed after signing',
    never(6, 'manifest-signature'),
  ),
];

function started({ crawl }: CrawledScene): CrawlScene {
  if (typeof crawl !== 'string') return crawl;
  throw new CheckSkipped(crawl);
}
