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

/** What hangs on a broken link is not reached. */
export const links: readonly Link[] = [
  {
    name: 'manifest-served',
    clause: `${endpoints}, registry manifest`,
    expects: 'a JSON document at /.well-known/dedi.index.json or dedi.json',
    documents: ['manifest'],
    codes: notServed,
  },
  {
    name: 'manifest-signed',
    clause: `${crawlOrder}, 2`,
    expects: 'a signature by a key that the registry has of the node',
    documents: ['manifest'],
    codes: [...badSignature, 'node-unknown'],
  },
  {
    name: 'manifest-names-record',
    clause: `${endpoints}, refers to the Subscriber record by digest`,
    expects: 'a manifest that names the file of the Subscriber record, with its digest',
    documents: ['manifest', 'record'],
    codes: ['malformed', 'record-missing', 'domain-mismatch'],
  },
  {
    name: 'record-served',
    clause: `${endpoints}, Subscriber record`,
    expects: 'a JSON document at the location that the manifest names',
    documents: ['record'],
    codes: notServed,
  },
  {
    name: 'record-digest',
    clause: `${crawlOrder}, 3`,
    expects: 'a Subscriber record whose bytes have the digest of the manifest',
    documents: ['record'],
    codes: ['digest-mismatch'],
  },
  {
    name: 'record-signed',
    clause: `${authentication}, 2`,
    expects: 'a signature by a key that the registry has of the node',
    documents: ['record'],
    codes: badSignature,
  },
  {
    name: 'record-lists-indexes',
    clause: 'Self-hosted spec: Subscriber record pointer',
    expects: 'meta.catalog_index_urls with at least one index',
    documents: ['record'],
    codes: ['no-index-urls', 'record-inactive', 'too-many-indexes'],
  },
  {
    name: 'index-served',
    clause: `${endpoints}, catalog index`,
    expects: 'a JSON document at each address in meta.catalog_index_urls',
    documents: ['index'],
    codes: notServed,
  },
  {
    name: 'index-signed',
    clause: `${crawlOrder}, 4`,
    expects: 'a signature by a key that the registry has of the node',
    documents: ['index'],
    codes: badSignature,
  },
  {
    name: 'index-shape',
    clause: indexFields,
    expects: 'nodeId, next_update and catalogs',
    documents: ['index'],
    codes: ['malformed'],
  },
  {
    name: 'index-of-node',
    clause: `${indexFields}, nodeId`,
    expects: 'the identity of the node whose record lists the index',
    documents: ['index'],
    codes: ['node-mismatch'],
  },
  {
    name: 'entry-signed',
    clause: `${authentication}, 1`,
    expects: 'each entry signed by a key that the registry has of the node',
    documents: ['entry'],
    codes: badSignature,
  },
  {
    name: 'entry-shape',
    clause: `${indexFields}, entry`,
    expects: 'catalogId, entryVersion, catalogType, baseline and changes of each entry',
    documents: ['entry'],
    codes: ['malformed'],
  },
  {
    name: 'entry-once',
    clause: `${indexFields}, one entry per catalog`,
    expects: 'one entry of each catalog',
    documents: ['entry'],
    codes: ['entry-twice', 'in-two-indexes'],
  },
  {
    name: 'baseline-served',
    clause: `${endpoints}, baseline and change files`,
    expects: 'a JSON document, gzipped or not, at the url of each baseline',
    documents: ['baseline'],
    codes: notServed,
  },
  {
    name: 'baseline-digest',
    clause: `${authentication}, 3`,
    expects: 'bytes with the digest that the entry declares',
    documents: ['baseline'],
    codes: ['digest-mismatch'],
  },
  {
    name: 'baseline-signed',
    clause: `${authentication}, 1`,
    expects: 'a signature by a key that the registry has of the node',
    documents: ['baseline'],
    codes: badSignature,
  },
  {
    name: 'baseline-of-entry',
    clause: `${indexFields}, baseline`,
    expects: 'the catalogId and the version of the entry in the file',
    documents: ['baseline'],
    codes: ['catalog-mismatch', 'version-mismatch'],
  },
  {
    name: 'change-served',
    clause: `${endpoints}, baseline and change files`,
    expects: 'a JSON document, gzipped or not, at the url of each change file',
    documents: ['change'],
    codes: notServed,
  },
  {
    name: 'change-digest',
    clause: `${authentication}, 3`,
    expects: 'bytes with the digest that the entry declares',
    documents: ['change'],
    codes: ['digest-mismatch'],
  },
  {
    name: 'change-signed',
    clause: `${authentication}, 1`,
    expects: 'a signature by a key that the registry has of the node',
    documents: ['change'],
    codes: badSignature,
  },
  {
    name: 'change-of-entry',
    clause: `${indexFields}, changes`,
    expects: 'the catalogId and the versions of the entry in the file',
    documents: ['change'],
    codes: ['catalog-mismatch', 'version-mismatch'],
  },
  {
    name: 'versions-lead',
    clause: 'Self-hosted spec: Versioning',
    expects: 'a baseline and changes that lead to the version that the entry announces',
    documents: ['catalog'],
    codes: ['gap'],
  },
  {
    name: 'catalog-content',
    clause: content,
    expects: 'at least one resource or offer, each with an id of its own',
    documents: ['baseline', 'change', 'catalog'],
    codes: ['malformed', 'empty-catalog', 'duplicate-id', 'bad-directive', 'foreign-owner'],
  },
  {
    name: 'master-without-offers',
    clause: content,
    expects: 'no offers in MASTER catalogs',
    documents: ['baseline', 'change'],
    codes: ['master-with-offers'],
  },
  {
    name: 'attributes-conform',
    clause: 'Self-hosted spec: Errors, domain schema check',
    expects: 'attributes that conform to the schema that their @context names',
    documents: ['baseline', 'change'],
    codes: ['schema-violation'],
  },
];
