import { hasCode } from '../../error-code.ts';
import {
  type HostedDocument,
  TrustFault,
  type TrustFaultCode,
  trustHints,
} from '../../rules/self-hosted/faults.ts';
import { DatabaseUnavailable } from '../../storage/unavailable.ts';
import { LeaseLost } from '../../storage/work/lease-lost.ts';

// Every reason why the crawler rejects or reports something: those of trust (rules/self-hosted/faults.ts), and those of
// fetching, versions and states. Each has one code, in the crawl log and in the metrics, and a hint that says what to do.

/** Something failed. The message is a sentence for people. */
export class CrawlFault extends Error {
  override readonly name = 'CrawlFault';
  readonly code: CrawlCode;
  readonly url?: string;
  /** The host itself failed: all work there must wait. */
  readonly hostFailed: boolean;
  readonly retryAfterMs?: number;

  constructor(
    code: CrawlCode,
    message: string,
    options: { url?: string; hostFailed?: boolean; retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.url = options.url;
    this.hostFailed = options.hostFailed ?? false;
    this.retryAfterMs = options.retryAfterMs;
  }
}

const driverHints = {
  unreachable: 'Make sure that the host is up, its name resolves and its certificate is valid.',
  timeout: 'Serve the file faster: it must arrive completely within the time limit.',
  'too-large': 'Split the index, or publish smaller files.',
  'address-refused': 'Use an address that is reachable from the public internet.',
  redirects: 'Name the final address: only a few redirects are followed.',
  'bad-url': 'Use an https address without user name and password.',
  'bad-encoding': 'Serve the file plain or with Content-Encoding: gzip.',
  'http-status': 'Make the host answer 200 for this address.',
  'file-missing': 'Upload content before the index that names it, and keep it for as long as it is named.',
  'verifies-too-slowly': 'Split the index, or publish smaller files.',
  'daily-quota': 'Publish change files instead of new baselines; reading continues tomorrow.',
  'manifest-missing': 'Serve a signed manifest at /.well-known/dedi.index.json.',
  'no-index-urls': 'Set meta.catalog_index_urls in the Subscriber record.',
  'too-many-indexes': 'List fewer indexes, each with more catalogs.',
  'node-vanished': 'Register the node in the network again, if it should be found there.',
  'index-unlisted': 'List the index in meta.catalog_index_urls, if its catalogs should stay up to date.',
  stale: 'Renew the document before its next_update.',
  rollback: 'Publish with versions higher than those that were published before; never restore an old index.',
  gap: 'Publish a new baseline, so that the announced version can be read again.',
  'type-changed': 'Publish under another catalogId: a catalog never changes its type.',
  absent: 'List the catalog in the index again; to withdraw it, set retiredAt.',
  'in-two-indexes': 'List every catalog in one index only.',
  'retired-returned': 'Publish under a new catalogId: a retired catalog never returns.',
  'not-relevant': 'Add a network of this discovery service to networkIds, if it should be found here.',
  'not-a-member': 'Join the networks that networkIds names, or remove them.',
  'master-not-allowed': 'Ask the operator of this discovery service to accept your MASTER catalogs.',
  'key-revoked': 'Sign everything again with a live key, and publish.',
  'waiting-for-master': 'Publish the MASTER catalog, or name the index that has it in dependencies.masters.',
  'master-hint-failed': 'Correct the indexUrl in dependencies.masters; until then the registry is used.',
  'master-overridden': 'Remove the value from the resource: that of the template is used.',
  'inherits-too-much':
    'Extend smaller templates, or fewer times: templates count again for each resource that extends them.',
  'internal-error': 'Ask the operator of this discovery service: its log says what happened.',
  'too-many-resources': 'Publish fewer resources from this node, or ask the operator for more room.',
} as const satisfies Record<string, string>;

export type CrawlCode = TrustFaultCode | keyof typeof driverHints;

export const crawlHints = { ...trustHints, ...driverHints };

export const crawlCodes = Object.keys(crawlHints) as CrawlCode[];

export type ReadingFault = TrustFault | CrawlFault;

export function isReadingFault(error: unknown): error is ReadingFault {
  return error instanceof TrustFault || error instanceof CrawlFault;
}

/** The fault of one item, even if it is our own: it must not block the others of its host. Throws errors that end the work at the host. */
export function asReadingFault(error: unknown, signal: AbortSignal): ReadingFault {
  if (isReadingFault(error)) return error;
  if (signal.aborted || endsWork(error)) throw error;
  return new CrawlFault('internal-error', 'Something went wrong here.', { cause: error });
}

/** For a file that must exist, because a document refers to it. */
export function fileMissing(document: HostedDocument, url: string): CrawlFault {
  return new CrawlFault('file-missing', `The ${document} is missing: there is nothing at ${url}.`, { url });
}

/** A namespace need not be a host name: if it is none, nothing is there. */
export function isNoHost(error: unknown): boolean {
  return error instanceof CrawlFault && hasCode(error.cause, 'ENOTFOUND');
}

/** The lease or the database is lost: no more work is possible at the host. */
export function endsWork(error: unknown): boolean {
  return error instanceof LeaseLost || error instanceof DatabaseUnavailable;
}

/** A temporary fault: the host or the registry was unreachable, which says nothing about the document. */
export function passes(fault: ReadingFault): boolean {
  return fault.code === 'registry-unavailable' || (fault instanceof CrawlFault && fault.hostFailed);
}

/** A verification failed: the manifest and the record of the node may have changed. */
export function doubtsNode(fault: ReadingFault): boolean {
  return fault instanceof TrustFault && !passes(fault);
}
