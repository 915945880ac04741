// Why a file hosted by a node is refused (self-hosted spec: Errors). The crawl log, the metrics and the commands share these codes.

export type HostedDocument = 'manifest' | 'digests' | 'record' | 'index' | 'entry' | 'baseline' | 'change';

export type Compared = Record<'expected' | 'got', string>;

/** The document cannot be trusted: none of it is used. The message is a sentence for people. */
export class TrustFault extends Error {
  override readonly name = 'TrustFault';
  readonly document: HostedDocument;
  readonly code: TrustFaultCode;
  readonly compared?: Compared;

  constructor(
    document: HostedDocument,
    code: TrustFaultCode,
    message: string,
    { cause, compared }: { cause?: unknown; compared?: Compared } = {},
  ) {
    super(message, { cause });
    this.document = document;
    this.code = code;
    if (compared) this.compared = compared;
  }
}

export const trustHints = {
  'not-gzip': 'Upload the file again; serve .json.gz files as they are, or with Content-Encoding: gzip.',
  'inflates-too-large': 'Split the catalog, so that each file stays below the limit when it is decompressed.',
  'not-json': 'Serve the JSON file itself: in UTF-8, without duplicate members, and not an HTML page.',
  malformed: 'Publish the document again with a current publisher; its message names the member.',
  'digest-mismatch':
    'Upload content before the index that names it, and never change a file under the same URL.',
  'signature-missing':
    'Sign the document: every manifest, record, index, entry and file carries its own signature.',
  'signature-invalid': 'Sign the document again; any change after signing, even formatting, breaks it.',
  'key-unknown':
    'Register the signing key under this record id in the registry, or sign with a registered one.',
  'key-unusable': 'Sign the document again with a live key; a revoked or expired one is not accepted.',
  'key-foreign': "Sign with a key of the node itself: another node's key proves nothing about it.",
  'registry-unavailable': 'Nothing: the registry could not be queried, and the check will be repeated.',
  'node-unknown': 'Register the node in the registry that the crawler asks.',
  'domain-mismatch':
    'Set the domain of the manifest to the host that serves it, or to the namespace of the node.',
  'record-missing': 'List a file with the Subscriber record of this node in the manifest.',
  'record-inactive':
    'Set registry.state of the Subscriber record file to active, if the node should be found.',
  'node-mismatch': 'Set nodeId of the index to the identity of the node whose record lists it.',
  'too-many-entries': 'Split the index: a node may have several, one per provider or segment.',
  'entry-twice': 'List every catalogId once in an index.',
  'too-many-changes': 'Compact the catalog: publish a new baseline.',
  'too-many-masters': 'Extend fewer MASTER catalogs from one catalog, or split it.',
  'catalog-mismatch': 'Publish the catalog again: file and index entry must name the same catalog.',
  'version-mismatch': 'Publish the catalog again: file and index entry must name the same versions.',
  'foreign-owner': 'Leave bppId out of the catalog, or set it to the identity of the node.',
  'duplicate-id': 'Give every resource and every offer of a catalog a unique id.',
  'bad-directive': 'Each directive must name one resource of its own file, and each variant must occur once.',
  'empty-catalog': 'Publish at least one resource or offer; retire a catalog that is no longer offered.',
  'master-with-offers': 'Move the offers into a REGULAR catalog: a MASTER holds templates only.',
  'schema-violation':
    'Correct what the message names: attributes conform to the schema of their @context, and a ring crosses itself at most 100 times.',
} as const satisfies Record<string, string>;

export type TrustFaultCode = keyof typeof trustHints;
