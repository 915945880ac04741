import type { FetchOptions } from '../discovery/crawl/fetch.ts';
import { isReadingFault } from '../discovery/crawl/reasons.ts';
import type { Finding } from '../discovery/inspect/findings.ts';
import type { Json, JsonObject } from '../protocol/json.ts';
import { isDateTime } from '../protocol/time.ts';
import { CheckFailed, CheckSkipped, clause } from './check.ts';
import { expectThat } from './expect.ts';
import { type Code, type Document, links } from './tree-links.ts';
import type { TreeScene } from './tree-scene.ts';
import { at, listAt, show } from './values.ts';

const on = clause<TreeScene>;

const endpoints = 'Self-hosted spec: Endpoints';
const indexFields = 'Self-hosted spec: Catalog index';

export const treeChecks = [
  ...links.flatMap(({ key, text, documents, codes }) =>
    on(text, {
      [key]: async ({ findings }) => {
        const ofThese = (await findings()).filter(({ document }) => documents.includes(document));
        refuse(ofThese.find((finding) => isOneOf(finding, codes)));
        if (!ofThese.some(({ kind }) => kind === 'holds'))
          throw new CheckSkipped(`there is no ${documents.join(' or ')} to check`);
      },
    }),
  ),
  ...on('Self-hosted spec: Subscriber record pointer, HTTPS URL', {
    'urls-https: https addresses of indexes and files (http only where the tree itself was given as http)':
      async ({ findings, indexes, isPlainHttp }) => {
        refuse((await findings()).find((finding) => isOneOf(finding, badAddress)));
        const schemes = isPlainHttp ? ['https:', 'http:'] : ['https:'];
        for (const url of (await indexes()).flatMap((index) => [index.url, ...urlsIn(index.document)]))
          expectThat(URL.canParse(url) && schemes.includes(new URL(url).protocol), `there is ${show(url)}`);
      },
  }),
  ...on(`${indexFields}, next_update`, {
    'index-next-update: next_update as an ISO 8601 date-time': async ({ indexes }) => {
      for (const { document } of await indexes()) {
        const { next_update: announced } = document;
        expectThat(typeof announced === 'string' && isDateTime(announced), `it is ${show(announced)}`);
      }
    },
  }),
  ...on(`${endpoints}, registry manifest, conditional`, {
    'manifest-conditional: 304 for the manifest where it is unchanged (ETag or Last-Modified)': (scene) =>
      expectConditional(scene, 'manifest'),
  }),
  ...on(`${endpoints}, catalog index, conditional`, {
    'index-conditional: 304 for an index that is unchanged (ETag or Last-Modified)': (scene) =>
      expectConditional(scene, 'index'),
  }),
  ...on(`${indexFields}, baseline.size`, {
    'baseline-size: as many bytes as the entry declares': async (scene) => {
      const entries = (await scene.indexes()).flatMap(({ document }) => listAt(document, 'catalogs'));
      const baselines = entries.flatMap((entry) => at(entry, 'baseline') ?? []);
      for (const baseline of baselines.slice(0, maxSizes)) {
        const [url, size] = [String(at(baseline, 'url')), at(baseline, 'size')];
        const fetched = await fetchAgain(scene, url);
        if (fetched.kind !== 'file' || fetched.file.isEncoded) continue;
        const { length } = fetched.file.wire;
        expectThat(length === size, `${url} has ${length} bytes, but ${show(size)} are declared`);
      }
    },
  }),
  ...on('Self-hosted spec: Versioning, entryVersion never regresses', {
    'versions-never-regress: no lower entryVersion when the index is read again': (scene) =>
      expectNoRegress(scene, 'entryVersion', (entry) => Number(at(entry, 'entryVersion'))),
  }),
  ...on('Self-hosted spec: Versioning, baseline.version and versions of changes never regress', {
    'content-never-regresses: no lower version of a baseline, or of the last change, when the index is read again':
      async (scene) => {
        await expectNoRegress(scene, 'a baseline of version', baselineVersionOf);
        await expectNoRegress(scene, 'content of version', (entry) =>
          Math.max(baselineVersionOf(entry), ...listAt(entry, 'changes').map(changeVersionOf)),
        );
      },
  }),
  ...on('Self-hosted spec: Errors', {
    'nothing-else-refused: nothing else that a crawler would refuse': async ({ findings }) => {
      const isChecked = (finding: Finding) =>
        isOneOf(finding, badAddress) ||
        links.some(({ documents, codes }) => documents.includes(finding.document) && isOneOf(finding, codes));
      refuse((await findings()).find((finding) => finding.kind === 'fault' && !isChecked(finding)));
    },
  }),
];

/** The check fetches files again, so it limits their number in a large tree. */
const maxSizes = 20;

const badAddress: readonly Code[] = ['bad-url', 'address-refused'];

function isOneOf(finding: Finding, codes: readonly Code[]): boolean {
  return finding.kind !== 'holds' && codes.includes(finding.code);
}

function refuse(finding: Finding | undefined): void {
  if (finding === undefined || finding.kind === 'holds') return;
  const { document, catalogId, url, message } = finding;
  const about = [document, catalogId, url].filter((part) => part !== undefined).join(' ');
  throw new CheckFailed(`${about}: ${message}`);
}

async function expectConditional(scene: TreeScene, wanted: Document): Promise<void> {
  const isWanted = ({ document, kind }: Finding) => document === wanted && kind === 'holds';
  const { url } = (await scene.findings()).find(isWanted) ?? {};
  if (url === undefined) throw new CheckSkipped(`there is no ${wanted} to request again`);
  const first = await fetchAgain(scene, url);
  if (first.kind !== 'file') throw new CheckFailed(`${url} has no content any more`);
  const condition = { etag: first.etag ?? null, modified: first.modified ?? null };
  const hasCondition = condition.etag !== null || condition.modified !== null;
  expectThat(hasCondition, `${url} has neither ETag nor Last-Modified`);
  const again = await fetchAgain(scene, url, condition);
  expectThat(again.kind === 'unchanged', `${url} was sent in full again`);
}

async function fetchAgain({ files }: TreeScene, url: string, condition?: FetchOptions['condition']) {
  const { fetcher, ...options } = files;
  try {
    return await fetcher.fetch(url, { ...options, ...(condition && { condition }) });
  } catch (error) {
    if (isReadingFault(error)) throw new CheckFailed(error.message);
    throw error;
  }
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
