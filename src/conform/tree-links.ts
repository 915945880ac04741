import type { About, Complaint } from '../discovery/inspect/findings.ts';

// The links of a published tree, in the order in which a crawler follows them, and the reasons for which it stops at each: every reason belongs to one clause.

export type Document = About['document'];
export type Code = Complaint['code'];

const endpoints = 'Self-hosted spec: Endpoints';
const authentication = 'Self-hosted spec: Authentication';
const crawlOrder = 'Self-hosted spec: Discovery crawl order';
const indexFields = 'Self-hosted spec: Catalog index';
const content = 'Self-hosted spec: Catalog file, baseline and change file';

const badSignature: readonly Code[] = [
  'signature-missing',
  'signature-invalid',
  'key-unknown',
  'key-unusable',
  'key-foreign',
];
const notServed: readonly Code[] = [
  'manifest-missing',
  'file-missing',
  'http-status',
  'unreachable',
  'timeout',
  'redirects',
  'not-json',
  'not-gzip',
  'bad-encoding',
  'too-large',
  'inflates-too-large',
];

export interface Link {
  name: string;
  clause: string;
  expects: string;
  documents: readonly Document[];
  codes: readonly Code[];
}

const link = (
  name: string,
  clause: string,
  expects: string,
  documents: Document | readonly Document[],
  codes: readonly Code[],
): Link => ({ name, clause, expects, documents: [documents].flat(), codes });

const served = (document: Document, what: string, where: string) =>
  link(`${document}-served`, `${endpoints}, ${what}`, `a JSON document${where}`, document, notServed);

const digested = (document: Document, clause: string, expects: string) =>
  link(`${document}-digest`, clause, expects, document, ['digest-mismatch']);

const signed = (document: Document, clause: string, signed = 'a signature', ...more: Code[]) => {
  const expects = `${signed} by a key that the registry has of the node`;
  return link(`${document}-signed`, clause, expects, document, [...badSignature, ...more]);
};

/** What hangs on a broken link is not reached. */
export const links: readonly Link[] = [
  served('manifest', 'registry manifest', ' at /.well-known/dedi.index.json or dedi.json'),
  signed('manifest', `${crawlOrder}, 2`, undefined, 'node-unknown'),
  link(
    'manifest-names-record',
    `${endpoints}, refers to the Subscriber record by digest`,
    'a manifest that names the file of the Subscriber record, with its digest',
    ['manifest', 'record'],
    ['malformed', 'record-missing', 'domain-mismatch'],
  ),
  served('record', 'Subscriber record', ' at the location that the manifest names'),
  digested('record', `${crawlOrder}, 3`, 'a Subscriber record whose bytes have the digest of the manifest'),
  signed('record', `${authentication}, 2`),
  link(
    'record-lists-indexes',
    'Self-hosted spec: Subscriber record pointer',
    'meta.catalog_index_urls with at least one index',
    'record',
    ['no-index-urls', 'record-inactive', 'too-many-indexes'],
  ),
  served('index', 'catalog index', ' at each address in meta.catalog_index_urls'),
  signed('index', `${crawlOrder}, 4`),
  link('index-shape', indexFields, 'nodeId, next_update and catalogs', 'index', ['malformed']),
  link(
    'index-of-node',
    `${indexFields}, nodeId`,
    'the identity of the node whose record lists the index',
    'index',
    ['node-mismatch'],
  ),
  signed('entry', `${authentication}, 1`, 'each entry signed'),
  link(
    'entry-shape',
    `${indexFields}, entry`,
    'catalogId, entryVersion, catalogType, baseline and changes of each entry',
    'entry',
    ['malformed'],
  ),
  link('entry-once', `${indexFields}, one entry per catalog`, 'one entry of each catalog', 'entry', [
    'entry-twice',
    'in-two-indexes',
  ]),
  ...linksOfFiles('baseline', 'baseline', 'version', 'each baseline'),
  ...linksOfFiles('change', 'changes', 'versions', 'each change file'),
  link(
    'versions-lead',
    'Self-hosted spec: Versioning',
    'a baseline and changes that lead to the version that the entry announces',
    'catalog',
    ['gap'],
  ),
  link(
    'catalog-content',
    content,
    'at least one resource or offer, each with an id of its own',
    ['baseline', 'change', 'catalog'],
    ['malformed', 'empty-catalog', 'duplicate-id', 'bad-directive', 'foreign-owner'],
  ),
  link(
    'master-without-offers',
    content,
    'no offers in MASTER catalogs',
    ['baseline', 'change'],
    ['master-with-offers'],
  ),
  link(
    'attributes-conform',
    'Self-hosted spec: Errors, domain schema check',
    'attributes that conform to the schema that their @context names',
    ['baseline', 'change'],
    ['schema-violation'],
  ),
];

function linksOfFiles(document: Document, member: string, versions: string, each: string): Link[] {
  return [
    served(document, 'baseline and change files', `, gzipped or not, at the url of ${each}`),
    digested(document, `${authentication}, 3`, 'bytes with the digest that the entry declares'),
    signed(document, `${authentication}, 1`),
    link(
      `${document}-of-entry`,
      `${indexFields}, ${member}`,
      `the catalogId and the ${versions} of the entry in the file`,
      document,
      ['catalog-mismatch', 'version-mismatch'],
    ),
  ];
}
