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

interface Seen {
  stage: number;
  /** Beside manifest and index, what the service must have read before it can have gone wrong. */
  reads?: string;
  resource: string;
  /** `never`: it is asked for once; the others are waited for. */
  wanted: 'found' | 'gone' | 'never';
}

type CrawlFact = Omit<Check<CrawledScene>, 'run'> & Seen;

const order = 'Self-hosted spec: Discovery crawl order';
const errors = 'Self-hosted spec: Errors';
const states = 'Self-hosted spec: States and transitions';
const files = 'Self-hosted spec: Catalog file, baseline and change file';

const fact = (name: string, clause: string, expects: string, rest: Seen): CrawlFact => ({
  ...{ name: `crawl-${name}`, clause, expects, ...rest },
});

/** A catalog of the first stage that must not be indexed. */
const unindexed = (name: string, clause: string, when: string): CrawlFact =>
  fact(name, clause, `nothing of a catalog ${when}`, { stage: 1, resource: name, wanted: 'never' });

/** The same, seen when the service has read its file. */
const discarded = (name: string, clause: string, when: string): CrawlFact => ({
  ...unindexed(name, clause, when),
  reads: baselineName(name),
});

/** A further index that the way to it does not prove. */
const misled = (name: string, clause: string, when: string, stage: number, resource: string) =>
  fact(name, clause, `nothing of an index that is listed ${when}`, { stage, resource, wanted: 'never' });

const facts: readonly CrawlFact[] = [
  unindexed('index-signed', `${order}, 4`, 'in an index that was changed after signing'),
  unindexed('index-of-node', 'Self-hosted spec: Catalog index, nodeId', 'in an index of another node'),
  unindexed(
    'entry-signed',
    `${errors}, an index entry's signature fails`,
    'whose entry was changed after signing',
  ),
  discarded(
    'file-signed',
    `${errors}, a catalog file's own signature fails`,
    'whose file was changed after signing',
  ),
  discarded(
    'file-digest',
    `${errors}, file digest differs`,
    'whose file does not have the digest of its entry',
  ),
  discarded(
    'key-registered',
    'Self-hosted spec: Authentication, 1',
    'whose file is signed with a key that the manifest lists, and the registry does not have',
  ),
  discarded(
    'file-of-entry',
    'Self-hosted spec: Catalog index, matched to the catalog by catalogId',
    'whose file is that of another catalog',
  ),
  discarded(
    'file-version',
    'Self-hosted spec: Catalog index, baseline.version',
    'whose file has another version than its entry declares',
  ),
  discarded(
    'attributes-checked',
    `${errors}, domain schema check`,
    'one of whose resources does not conform to its schema',
  ),
  unindexed('paused', `${states}, paused`, 'whose entry is not active'),
  fact('gzip', 'Self-hosted spec: Endpoints, optionally gzip compressed', 'a catalog whose file is gzipped', {
    stage: 1,
    reads: gzippedName('gzipped'),
    resource: 'gzipped',
    wanted: 'found',
  }),
  fact('change-applied', files, 'a resource that a change file adds', {
    stage: 2,
    reads: changeName('sound'),
    resource: 'sound-2',
    wanted: 'found',
  }),
  fact('change-removes', files, 'no longer a resource that a change file removes', {
    stage: 2,
    reads: changeName('sound'),
    resource: 'removed',
    wanted: 'gone',
  }),
  fact(
    'change-digest',
    'Self-hosted spec: Authentication, 3',
    'nothing of a change file that does not have the digest of its entry',
    { stage: 2, reads: changeName('change-digest'), resource: 'change-digest-2', wanted: 'never' },
  ),
  fact(
    'change-signed',
    'Self-hosted spec: Authentication, 1',
    'nothing of a change file that was changed after signing',
    { stage: 2, reads: changeName('change-signed'), resource: 'change-signed-2', wanted: 'never' },
  ),
  fact(
    'entry-rollback',
    `${errors}, entryVersion lower than the stored cursor`,
    'nothing of an entry whose entryVersion has regressed',
    { stage: 2, resource: 'entry-rollback-2', wanted: 'never' },
  ),
  fact(
    'content-rollback',
    `${errors}, a content version lower than the stored cursor`,
    'nothing of a baseline whose version has regressed',
    { stage: 2, resource: 'content-rollback-2', wanted: 'never' },
  ),
  fact(
    'absent-kept',
    `${errors}, a previously indexed catalogId is absent`,
    'a catalog that is in the index no more, and was not retired',
    { stage: 2, resource: 'absent', wanted: 'found' },
  ),
  fact('retired', `${states}, retired`, 'no longer a catalog whose entry has retiredAt', {
    stage: 2,
    resource: 'retired',
    wanted: 'gone',
  }),
  fact('shared-kept', `${states}, retired`, 'a resource of a retired catalog that another catalog has too', {
    stage: 2,
    resource: 'shared',
    wanted: 'found',
  }),
  fact('resumed', `${states}, active`, 'a catalog whose entry is active again', {
    stage: 3,
    resource: 'paused',
    wanted: 'found',
  }),
  fact(
    'retired-for-ever',
    `${states}, one-way: never unset`,
    'nothing of a catalog that was retired, though its entry comes back without retiredAt',
    { stage: 3, resource: 'retired-2', wanted: 'never' },
  ),
  misled(
    'record-digest',
    `${order}, 3`,
    'by a Subscriber record without the digest of the manifest',
    4,
    'record-digest',
  ),
  misled(
    'record-signed',
    'Self-hosted spec: Authentication, 2',
    'by a Subscriber record that was changed after signing',
    5,
    'record-signature',
  ),
  misled(
    'manifest-signed',
    `${order}, 2`,
    'by way of a manifest that was changed after signing',
    6,
    'manifest-signature',
  ),
];

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

async function judge(crawl: CrawlScene, { stage, reads, resource, wanted }: Seen): Promise<void> {
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
