import { type Forgery, type ForgeryOptions, forge } from '../hosted/forged-node.ts';
import { answers, kindOf, only } from '../hosted/tampering.ts';
import type { HostedAnswer, Spoiler } from '../hosted/tampering-proxy.ts';
import type { Body } from '../network/actor.ts';
import type { Provider } from '../network/provider.ts';

// Faults of a published tree, one for each check that should find it. The tree has a REGULAR catalog of EV chargers with one change, and a MASTER catalog.

export interface TreeFault {
  /** The check that fails. */
  check: string;
  what: string;
  spoil(provider: Provider): Spoiler;
}

const forged = (check: string, what: string, forgery: Forgery, options?: ForgeryOptions): TreeFault => ({
  ...{ check, what },
  spoil: (provider) => conditional(forge(provider, forgery, options)),
});

const spoiled = (check: string, what: string, spoiler: Spoiler): TreeFault => ({
  ...{ check, what },
  spoil: () => conditional(spoiler),
});

/** Something is added after signing. */
const altered = (document: Body) => {
  document.added = true;
};

const asItWas = 'as it was' as const;

const oneByteChanged: Spoiler = (_path, { body }) => ({
  body: Buffer.concat([body.subarray(0, -1), Buffer.from(']')]),
});

/** Answers conditional requests with 304, as the publisher would, so that spoilers see every request as the first. */
function conditional(spoiler: Spoiler): Spoiler {
  return (path, answer, response) => {
    const { 'if-none-match': known } = response.req.headers;
    const unchanged: Partial<HostedAnswer> = { status: 304, body: Buffer.alloc(0) };
    return known === undefined ? spoiler(path, answer, response) : unchanged;
  };
}

function servedWhole(kind: 'manifest' | 'index'): Spoiler {
  return (path, answer, response) =>
    kindOf(path) === kind ? {} : conditional(() => undefined)(path, answer, response);
}

/** @param regress lowers versions of an entry further with each read of its index */
function regressing(provider: Provider, regress: (entry: Body, reads: number) => void): Spoiler {
  let reads = 0;
  const spoiler = forge(provider, { entry: (entry) => regress(entry, reads) });
  return conditional((path, answer, response) => {
    if (kindOf(path) === 'index') reads += 1;
    return spoiler(path, answer, response);
  });
}

/** An index of a publisher that signs only entries and files. */
export function unsignedIndex(provider: Provider, more?: 'and a toaster'): Spoiler {
  const index = (document: Body) => delete document.signature;
  const forgery: Forgery = more ? { index, baseline: toaster } : { index };
  return conditional(forge(provider, forgery, { signed: { index: asItWas } }));
}

const toaster = ({ catalog }: Body) => {
  catalog.resources[0].resourceAttributes.type = 'TOASTER';
};

const isMaster = ({ catalog }: Body) => catalog.id === 'master';

export const treeFaults: readonly TreeFault[] = [
  spoiled('manifest-served', 'it is not there', only('manifest', answers(404))),
  forged(
    'manifest-signed',
    'it was changed after signing',
    { manifest: altered },
    { signed: { manifest: asItWas } },
  ),
  forged('manifest-names-record', 'it names no files', {
    manifest: (manifest) => {
      manifest.files = [];
    },
  }),
  spoiled('record-served', 'it is not there', only('record', answers(404))),
  spoiled('record-digest', 'one byte of it was changed', only('record', oneByteChanged)),
  forged(
    'record-signed',
    'it was changed after signing',
    { record: altered },
    { signed: { record: asItWas } },
  ),
  forged('record-lists-indexes', 'it lists none', {
    record: ({ records }) => {
      for (const { meta } of records) meta.catalog_index_urls = [];
    },
  }),
  spoiled('index-served', 'it is not there', only('index', answers(404))),
  forged('index-signed', 'it was changed after signing', { index: altered }, { signed: { index: asItWas } }),
  forged('index-shape', 'catalogs is no array', {
    index: (index) => {
      index.catalogs = {};
    },
  }),
  forged('index-of-node', 'it is that of another node', {
    index: (index) => {
      index.nodeId = 'somebody.example';
    },
  }),
  forged('entry-signed', 'it was changed after signing', { entry: altered }, { signed: { entry: asItWas } }),
  forged('entry-shape', 'entryVersion is missing', { entry: (entry) => delete entry.entryVersion }),
  forged('entry-once', 'an entry comes twice', {
    index: ({ catalogs }) => catalogs.push(catalogs[0]),
  }),
  spoiled('baseline-served', 'it is not there', only('baseline', answers(404))),
  spoiled('baseline-digest', 'one byte of it was changed', only('baseline', oneByteChanged)),
  forged(
    'baseline-signed',
    'it was changed after signing',
    { baseline: altered },
    { signed: { baseline: asItWas } },
  ),
  forged('baseline-of-entry', 'it is that of another catalog', {
    baseline: (file) => {
      file.catalogId = 'another';
    },
  }),
  spoiled('change-served', 'it is not there', only('change', answers(404))),
  spoiled('change-digest', 'one byte of it was changed', only('change', oneByteChanged)),
  forged(
    'change-signed',
    'it was changed after signing',
    { change: altered },
    { signed: { change: asItWas } },
  ),
  forged('change-of-entry', 'it is that of another catalog', {
    change: (file) => {
      file.catalogId = 'another';
    },
  }),
  forged('versions-lead', 'a change is missing', {
    change: (file) => {
      file.fromVersion += 1;
      file.toVersion += 1;
    },
    entry: ({ changes }) => {
      for (const change of changes ?? []) {
        change.version += 1;
        change.fromVersion += 1;
        change.toVersion += 1;
      }
    },
  }),
  forged('catalog-content', 'two resources have one id', {
    baseline: ({ catalog }) => catalog.resources.push(catalog.resources[0]),
  }),
  forged('master-without-offers', 'a MASTER has offers', {
    baseline: (file) => {
      if (isMaster(file)) file.catalog.offers = [{ id: 'offer' }];
    },
  }),
  forged('attributes-conform', 'a charger is a toaster', { baseline: toaster }),
  forged('urls-https', 'an index is elsewhere than on the web', {
    record: ({ records }) => {
      for (const { meta } of records) meta.catalog_index_urls = [{ url: 'ftp://files.example/index.json' }];
    },
  }),
  forged('index-next-update', 'it is missing', { index: (index) => delete index.next_update }),
  { check: 'manifest-conditional', what: 'it is always served whole', spoil: () => servedWhole('manifest') },
  { check: 'index-conditional', what: 'it is always served whole', spoil: () => servedWhole('index') },
  forged('baseline-size', 'it is declared one byte too large', {
    entry: ({ baseline }) => {
      if (baseline) baseline.size += 1;
    },
  }),
  {
    ...{ check: 'versions-never-regress', what: 'an older index comes back' },
    spoil: (provider) =>
      regressing(provider, (entry, reads) => {
        entry.entryVersion += 1_000 - reads;
      }),
  },
  {
    ...{ check: 'content-never-regresses', what: 'an older baseline comes back in a newer entry' },
    // The first read leads to the files, the second is the baseline for later ones.
    spoil: (provider) =>
      regressing(provider, ({ baseline }, reads) => {
        if (reads > 2) baseline.version -= 1;
      }),
  },
  forged('nothing-else-refused', 'an entry depends on too many masters', {
    entry: (entry) => {
      const masters = Array.from({ length: 9 }, (_, index) => ({ catalogId: `master-${index}`, version: 1 }));
      if (entry.catalogType === 'REGULAR') entry.dependencies = { masters };
    },
  }),
];
