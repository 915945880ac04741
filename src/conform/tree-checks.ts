import type { FetchOptions } from '../discovery/crawl/fetch.ts';
import { isReadingFault } from '../discovery/crawl/reasons.ts';
import type { About, Complaint, Finding } from '../discovery/inspect/findings.ts';
import type { Json, JsonObject } from '../protocol/json.ts';
import { isDateTime } from '../protocol/time.ts';
import { type Check, CheckFailed, CheckSkipped } from './check.ts';
import { at, expectThat, listAt, show } from './expect.ts';
import { type Code, type Document, links } from './tree-links.ts';
import type { TreeScene } from './tree-scene.ts';

type TreeCheck = Check<TreeScene>;

const endpoints = 'Self-hosted spec: Endpoints';
const indexFields = 'Self-hosted spec: Catalog index';

export const treeChecks: readonly TreeCheck[] = [
  ...links.map(
    ({ name, clause, expects, documents, codes }): TreeCheck => ({
      ...{ name, clause, expects },
      async run({ findings }) {
        const ofThese = (await findings()).filter(({ document }) => documents.includes(document));
        const complaint = ofThese.find((finding) => isOneOf(finding, codes));
        if (complaint) throw new CheckFailed(tell(complaint));
        if (!ofThese.some(({ kind }) => kind === 'holds'))
          throw new CheckSkipped(`there is no ${documents.join(' or ')} to look at`);
      },
    }),
  ),
  {
    name: 'urls-https',
    clause: 'Self-hosted spec: Subscriber record pointer, HTTPS URL',
    expects: 'https addresses of indexes and files (http only where the tree itself was given as http)',
    async run({ findings, indexes, isPlainHttp }) {
      const wrong = (await findings()).find((finding) => isOneOf(finding, ['bad-url', 'address-refused']));
      if (wrong) throw new CheckFailed(tell(wrong));
      const schemes = isPlainHttp ? ['https:', 'http:'] : ['https:'];
      for (const url of (await indexes()).flatMap((index) => [index.url, ...urlsIn(index.document)]))
        expectThat(URL.canParse(url) && schemes.includes(new URL(url).protocol), `there is ${show(url)}`);
    },
  },
  {
    name: 'index-next-update',
    clause: `${indexFields}, next_update`,
    expects: 'next_update as an ISO 8601 date-time',
    async run({ indexes }) {
      for (const { document } of await indexes()) {
        const { next_update: announced } = document;
        expectThat(typeof announced === 'string' && isDateTime(announced), `it is ${show(announced)}`);
      }
    },
  },
  {
    name: 'manifest-conditional',
    clause: `${endpoints}, registry manifest, conditional`,
    expects: '304 for the manifest where it is unchanged (ETag or Last-Modified)',
    run: async (scene) => expectConditional(scene, await foundAt(scene, 'manifest')),
  },
  {
    name: 'index-conditional',
    clause: `${endpoints}, catalog index, conditional`,
    expects: '304 for an index that is unchanged (ETag or Last-Modified)',
    run: async (scene) => expectConditional(scene, await foundAt(scene, 'index')),
  },
  {
    name: 'baseline-size',
    clause: `${indexFields}, baseline.size`,
    expects: 'as many bytes as the entry declares',
    async run(scene) {
      const baselines = (await entriesOf(scene)).flatMap((entry) => at(entry, 'baseline') ?? []);
      for (const baseline of baselines.slice(0, maxSizes)) {
        const [url, size] = [String(at(baseline, 'url')), at(baseline, 'size')];
        const fetched = await fetchAgain(scene, url);
        if (fetched.kind !== 'file' || fetched.file.isEncoded) continue;
        const { length } = fetched.file.wire;
        expectThat(length === size, `${url} has ${length} bytes, declared are ${show(size)}`);
      }
    },
  },
  {
    name: 'versions-never-regress',
    clause: 'Self-hosted spec: Versioning, entryVersion never regresses',
    expects: 'no lower entryVersion when the index is read again',
    run: (scene) => expectNoRegress(scene, 'entryVersion', (entry) => Number(at(entry, 'entryVersion'))),
  },
  {
    name: 'content-never-regresses',
    clause: 'Self-hosted spec: Versioning, baseline.version and versions of changes never regress',
    expects: 'no lower version of a baseline, or of the last change, when the index is read again',
    async run(scene) {
      await expectNoRegress(scene, 'a baseline of version', baselineVersionOf);
      await expectNoRegress(scene, 'content of version', (entry) =>
        Math.max(baselineVersionOf(entry), ...listAt(entry, 'changes').map(changeVersionOf)),
      );
    },
  },
  {
    name: 'nothing-else-refused',
    clause: 'Self-hosted spec: Errors',
    expects: 'nothing else that a crawler would refuse',
    async run({ findings }) {
      const isChecked = (finding: Finding) =>
        isOneOf(finding, ['bad-url', 'address-refused']) ||
        links.some(({ documents, codes }) => documents.includes(finding.document) && isOneOf(finding, codes));
      const left = (await findings()).find(
        (finding): finding is About & Complaint => finding.kind === 'fault' && !isChecked(finding),
      );
      if (left) throw new CheckFailed(tell(left));
    },
  },
];

/** Files are fetched again for it: of a large tree, some must do. */
const maxSizes = 20;

function isOneOf(finding: Finding, codes: readonly Code[]): finding is About & Complaint {
  return finding.kind !== 'holds' && codes.includes(finding.code);
}

function tell({ document, catalogId, url, message }: About & Complaint): string {
  return [document, catalogId, url]
    .filter((part) => part !== undefined)
    .join(' ')
    .concat(`: ${message}`);
}

async function foundAt({ findings }: TreeScene, wanted: Document): Promise<string> {
  const found = (await findings()).find(({ document, kind }) => document === wanted && kind === 'holds');
  if (found?.url !== undefined) return found.url;
  throw new CheckSkipped(`there is no ${wanted} to ask for again`);
}

async function expectConditional(scene: TreeScene, url: string): Promise<void> {
  const first = await fetchAgain(scene, url);
  if (first.kind !== 'file') throw new CheckFailed(`${url} has nothing to offer any more`);
  const condition = { etag: first.etag ?? null, modified: first.modified ?? null };
  expectThat(
    condition.etag !== null || condition.modified !== null,
    `${url} has neither ETag nor Last-Modified`,
  );
  const again = await fetchAgain(scene, url, condition);
  expectThat(again.kind === 'unchanged', `${url} was served whole again`);
}

async function fetchAgain({ check }: TreeScene, url: string, condition?: FetchOptions['condition']) {
  const { fetcher, limits } = check.reader;
  const options = { maxBytes: limits.maxIndexBytes, signal: check.signal, ...(condition && { condition }) };
  try {
    return await fetcher.fetch(url, options);
  } catch (error) {
    if (isReadingFault(error)) throw new CheckFailed(error.message);
    throw error;
  }
}

async function entriesOf({ indexes }: TreeScene) {
  return (await indexes()).flatMap(({ document }) => listAt(document, 'catalogs'));
}

function urlsIn(index: JsonObject): string[] {
  const files = listAt(index, 'catalogs').flatMap((entry) => [
    ...(at(entry, 'baseline') ? [at(entry, 'baseline', 'url')] : []),
    ...listAt(entry, 'changes').map((change) => at(change, 'url')),
  ]);
  return files.map(String).filter((url) => url !== '');
}

async function expectNoRegress(
  { indexes, readAgain }: TreeScene,
  what: string,
  versionOf: (entry: Json) => number,
): Promise<void> {
  for (const { url, document } of await indexes()) {
    const later = new Map(versionsIn((await readAgain(url)) ?? {}, versionOf));
    for (const [catalogId, version] of versionsIn(document, versionOf)) {
      const now = later.get(catalogId) ?? version;
      expectThat(!(now < version), `${catalogId} had ${what} ${version}, and then ${now}`);
    }
  }
}

function versionsIn(index: JsonObject, versionOf: (entry: Json) => number): [string, number][] {
  return listAt(index, 'catalogs').map((entry) => [String(at(entry, 'catalogId')), versionOf(entry)]);
}

function baselineVersionOf(entry: Json): number {
  return Number(at(entry, 'baseline', 'version'));
}

function changeVersionOf(change: Json): number {
  return Number(at(change, 'toVersion') ?? at(change, 'version'));
}
