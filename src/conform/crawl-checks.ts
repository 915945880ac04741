import { type Check, CheckSkipped } from './check.ts';
import type { CrawlScene } from './crawl-scene.ts';
import { baselineName, changeName, gzippedName } from './crawl-stages.ts';
import type { DiscoveryScene } from './discovery-scene.ts';
import { expectThat } from './expect.ts';

// What a discovery service must index of a node that hosts its files, and what it must not (self-hosted spec: Discovery crawl order, States and transitions,
// Errors). The clauses about its log cannot be seen from outside.

export interface CrawledScene extends DiscoveryScene {
  /** Why it cannot be seen, where it cannot. */
  crawl: CrawlScene | string;
}

interface CrawlFacts {
  name: string;
  clause: string;
  expects: string;
  /** When it is looked at. */
  stage: number;
  /** Beside manifest and index, what the service must have read before it can have gone wrong. */
  reads?: string;
  resource: string;
  /** `never`: it is asked for once; the others are waited for. */
  wanted: 'found' | 'gone' | 'never';
}

const order = 'Self-hosted spec: Discovery crawl order';
const errors = 'Self-hosted spec: Errors';
const states = 'Self-hosted spec: States and transitions';
const files = 'Self-hosted spec: Catalog file, baseline and change file';

/** A catalog of the first stage that must not be indexed; `reads` is left out where not even its file should be read. */
const unindexed = (
  name: string,
  clause: string,
  when: string,
  resource: string,
  reads?: string,
): CrawlFacts => ({
  ...{ name, clause, expects: `nothing of a catalog ${when}`, stage: 1, resource, wanted: 'never' },
  ...(reads !== undefined && { reads }),
});

/** A further index that the way to it does not prove. */
const misled = (name: string, clause: string, when: string, stage: number, resource: string): CrawlFacts => ({
  ...{ name, clause, expects: `nothing of an index that is listed ${when}` },
  ...{ stage, resource, wanted: 'never' },
});

const facts: readonly CrawlFacts[] = [
  unindexed(
    'crawl-index-signed',
    `${order}, 4`,
    'in an index that was changed after signing',
    'index-signed',
  ),
  unindexed(
    'crawl-index-of-node',
    'Self-hosted spec: Catalog index, nodeId',
    'in an index of another node',
    'index-of-node',
  ),
  unindexed(
    'crawl-entry-signed',
    `${errors}, an index entry's signature fails`,
    'whose entry was changed after signing',
    'entry-signed',
  ),
  unindexed(
    'crawl-file-signed',
    `${errors}, a catalog file's own signature fails`,
    'whose file was changed after signing',
    'file-signed',
    baselineName('file-signed'),
  ),
  unindexed(
    'crawl-file-digest',
    `${errors}, file digest differs`,
    'whose file does not have the digest of its entry',
    'file-digest',
    baselineName('file-digest'),
  ),
  unindexed(
    'crawl-key-registered',
    'Self-hosted spec: Authentication, 1',
    'whose file is signed with a key that the manifest lists, and the registry does not have',
    'stranger',
    baselineName('stranger'),
  ),
  unindexed(
    'crawl-file-of-entry',
    'Self-hosted spec: Catalog index, matched to the catalog by catalogId',
    'whose file is that of another catalog',
    'of-entry',
    baselineName('of-entry'),
  ),
  unindexed(
    'crawl-file-version',
    'Self-hosted spec: Catalog index, baseline.version',
    'whose file has another version than its entry declares',
    'file-version',
    baselineName('file-version'),
  ),
  unindexed(
    'crawl-attributes-checked',
    `${errors}, domain schema check`,
    'one of whose resources does not conform to its schema',
    'attributes',
    baselineName('attributes'),
  ),
  unindexed('crawl-paused', `${states}, paused`, 'whose entry is not active', 'paused'),
  {
    name: 'crawl-gzip',
    clause: 'Self-hosted spec: Endpoints, optionally gzip compressed',
    expects: 'a catalog whose file is gzipped',
    ...{ stage: 1, reads: gzippedName('gzipped'), resource: 'gzipped', wanted: 'found' },
  },
  {
    name: 'crawl-change-applied',
    clause: files,
    expects: 'a resource that a change file adds',
    ...{ stage: 2, reads: changeName('sound'), resource: 'sound-2', wanted: 'found' },
  },
  {
    name: 'crawl-change-removes',
    clause: files,
    expects: 'no longer a resource that a change file removes',
    ...{ stage: 2, reads: changeName('sound'), resource: 'removed', wanted: 'gone' },
  },
  {
    name: 'crawl-change-digest',
    clause: 'Self-hosted spec: Authentication, 3',
    expects: 'nothing of a change file that does not have the digest of its entry',
    ...{ stage: 2, reads: changeName('change-digest'), resource: 'change-digest-2', wanted: 'never' },
  },
  {
    name: 'crawl-change-signed',
    clause: 'Self-hosted spec: Authentication, 1',
    expects: 'nothing of a change file that was changed after signing',
    ...{ stage: 2, reads: changeName('change-signed'), resource: 'change-signed-2', wanted: 'never' },
  },
  {
    name: 'crawl-entry-rollback',
    clause: `${errors}, entryVersion lower than the stored cursor`,
    expects: 'nothing of an entry whose entryVersion has regressed',
    ...{ stage: 2, resource: 'entry-rollback-2', wanted: 'never' },
  },
  {
    name: 'crawl-content-rollback',
    clause: `${errors}, a content version lower than the stored cursor`,
    expects: 'nothing of a baseline whose version has regressed',
    ...{ stage: 2, resource: 'content-rollback-2', wanted: 'never' },
  },
  {
    name: 'crawl-absent-kept',
    clause: `${errors}, a previously indexed catalogId is absent`,
    expects: 'a catalog that is in the index no more, and was not retired',
    ...{ stage: 2, resource: 'absent', wanted: 'found' },
  },
  {
    name: 'crawl-retired',
    clause: `${states}, retired`,
    expects: 'no longer a catalog whose entry has retiredAt',
    ...{ stage: 2, resource: 'retired', wanted: 'gone' },
  },
  {
    name: 'crawl-shared-kept',
    clause: `${states}, retired`,
    expects: 'a resource of a retired catalog that another catalog has too',
    ...{ stage: 2, resource: 'shared', wanted: 'found' },
  },
  {
    name: 'crawl-resumed',
    clause: `${states}, active`,
    expects: 'a catalog whose entry is active again',
    ...{ stage: 3, resource: 'paused', wanted: 'found' },
  },
  {
    name: 'crawl-retired-for-ever',
    clause: `${states}, one-way: never unset`,
    expects: 'nothing of a catalog that was retired, though its entry comes back without retiredAt',
    ...{ stage: 3, resource: 'retired-2', wanted: 'never' },
  },
  misled(
    'crawl-record-digest',
    `${order}, 3`,
    'by a Subscriber record without the digest of the manifest',
    4,
    'record-digest',
  ),
  misled(
    'crawl-record-signed',
    'Self-hosted spec: Authentication, 2',
    'by a Subscriber record that was changed after signing',
    5,
    'record-signature',
  ),
  misled(
    'crawl-manifest-signed',
    `${order}, 2`,
    'by way of a manifest that was changed after signing',
    6,
    'manifest-signature',
  ),
];

/** In the order of the stages. */
export const crawlChecks: readonly Check<CrawledScene>[] = [
  {
    name: 'crawl-finds',
    clause: 'Self-hosted spec: What the service does',
    expects: 'the resources of catalogs whose signatures and digests all hold',
    async run({ crawl }) {
      const missing = await started(crawl).missing();
      expectThat(missing.length === 0, `read, and not found: ${missing.join(', ')}`);
    },
  },
  ...facts.map(({ name, clause, expects, ...rest }) => ({
    ...{ name, clause, expects },
    run: ({ crawl }: CrawledScene) => judge(started(crawl), rest),
  })),
];

function started(crawl: CrawledScene['crawl']): CrawlScene {
  if (typeof crawl !== 'string') return crawl;
  throw new CheckSkipped(crawl);
}

async function judge(
  crawl: CrawlScene,
  { stage, reads, resource, wanted }: Omit<CrawlFacts, 'name' | 'clause' | 'expects'>,
): Promise<void> {
  // A service that indexes nothing at all would pass most of these.
  if ((await crawl.missing()).length > 0) throw new CheckSkipped('not even sound catalogs are found');
  await crawl.reach(stage);
  if (reads !== undefined) await crawl.awaitRead(reads);
  if (wanted === 'never') expectThat(!(await crawl.isFound(resource)), 'it is found');
  else
    expectThat(
      await crawl.becomes(resource, wanted),
      wanted === 'found' ? 'it is not found' : 'it is still found',
    );
}
