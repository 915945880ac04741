import type { About, Complaint } from '../discovery/inspect/findings.ts';

// The links of a published tree, in the crawler's order, and the reasons to stop at each. Every reason belongs to one clause.

export type Document = About['document'];
export type Code = Complaint['code'];

const endpoints = 'Self-hosted spec: Endpoints';
const authentication = 'Self-hosted spec: Authentication';
const crawlOrder = 'Self-hosted spec: Discovery crawl order';
const indexFields = 'Self-hosted spec: Catalog index';
const content = 'Self-hosted spec: Catalog file, baseline and change file';

const files: readonly Document[] = ['baseline', 'change'];

const badSignature: readonly Code[] = [
  ...(['signature-missing', 'signature-invalid', 'key-unknown', 'key-unusable', 'key-foreign'] as const),
];
const notServed: readonly Code[] = [
  ...(['manifest-missing', 'file-missing', 'http-status', 'unreachable', 'timeout', 'redirects'] as const),
  ...(['not-json', 'not-gzip', 'bad-encoding', 'too-large', 'inflates-too-large'] as const),
];

export interface Link {
  key: string;
  text: string;
  documents: readonly Document[];
  codes: readonly Code[];
}

const link = (
  key: string,
  text: string,
  documents: Document | readonly Document[],
  codes: readonly Code[],
): Link => ({ key, text, documents: [documents].flat(), codes });

const served = (document: Document, what: string, where: string) =>
  link(`${document}-served: a JSON document${where}`, `${endpoints}, ${what}`, document, notServed);

const digested = (document: Document, text: string, expects: string) =>
  link(`${document}-digest: ${expects}`, text, document, ['digest-mismatch']);

const signed = (document: Document, text: string, signature = 'a signature', ...more: Code[]) =>
  link(`${document}-signed: ${signature} by a key that the registry has of the node`, text, document, [
    ...badSignature,
    ...more,
  ]);

/** Links in order: after a broken link, dependent ones are not reached. */
export const links: readonly Link[] = [
  served('manifest', 'registry manifest', ' at /.well-known/dedi.index.json or dedi.json'),
  signed('manifest', `${crawlOrder}, 2`, undefined, 'node-unknown'),
  link(
    'manifest-names-record: a manifest that names the file of the Subscriber record, with its digest',
    `${endpoints}, refers to the Subscriber record by digest`,
    ['manifest', 'record'],
    ['malformed', 'record-missing', 'domain-mismatch'],
  ),
  served('record', 'Subscriber record', ' at the location that the manifest names'),
  digested('record', `${crawlOrder}, 3`, 'a Subscriber record whose bytes have the digest of the manifest'),
  signed('record', `${authentication}, 2`),
  link(
    'record-lists-indexes: meta.catalog_index_urls with at least one index',
    'Self-hosted spec: Subscriber record pointer',
    'record',
    ['no-index-urls', 'record-inactive', 'too-many-indexes'],
  ),
  served('index', 'catalog index', ' at each address in meta.catalog_index_urls'),
  signed('index', `${crawlOrder}, 4`),
  link('index-shape: nodeId, next_update and catalogs', indexFields, 'index', ['malformed']),
  link(
    'index-of-node: the identity of the node whose record lists the index',
    `${indexFields}, nodeId`,
    'index',
    ['node-mismatch'],
  ),
  signed('entry', `${authentication}, 1`, 'each entry signed'),
  link(
    'entry-shape: catalogId, entryVersion, catalogType, baseline and changes of each entry',
    `${indexFields}, entry`,
    'entry',
    ['malformed'],
  ),
  link('entry-once: one entry of each catalog', `${indexFields}, one entry per catalog`, 'entry', [
    'entry-twice',
    'in-two-indexes',
  ]),
  ...linksOfFiles('baseline', 'baseline', 'version', 'each baseline'),
  ...linksOfFiles('change', 'changes', 'versions', 'each change file'),
  link(
    'versions-lead: a baseline and changes that lead to the version that the entry announces',
    'Self-hosted spec: Versioning',
    'catalog',
    ['gap'],
  ),
  link(
    'catalog-content: at least one resource or offer, each with a unique id',
    content,
    ['baseline', 'change', 'catalog'],
    ['malformed', 'empty-catalog', 'duplicate-id', 'bad-directive', 'foreign-owner'],
  ),
  link('master-without-offers: no offers in MASTER catalogs', content, files, ['master-with-offers']),
  link(
    'attributes-conform: attributes that conform to the schema that their @context names',
    'Self-hosted spec: Errors, domain schema check',
    files,
    ['schema-violation'],
  ),
];

function linksOfFiles(document: Document, member: string, versions: string, each: string): Link[] {
  return [
    served(document, 'baseline and change files', `, gzipped or not, at the url of ${each}`),
    digested(document, `${authentication}, 3`, 'bytes with the digest that the entry declares'),
    signed(document, `${authentication}, 1`),
    link(
      `${document}-of-entry: the catalogId and the ${versions} of the entry in the file`,
      `${indexFields}, ${member}`,
      document,
      ['catalog-mismatch', 'version-mismatch'],
    ),
  ];
}
