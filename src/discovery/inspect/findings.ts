import { duplicatesHint } from '../../rules/duplicates.ts';
import { type Compared, type HostedDocument, TrustFault } from '../../rules/self-hosted/faults.ts';
import { type CrawlCode, crawlHints, isReadingFault } from '../crawl/reasons.ts';

// The finding about a link of the chain (self-hosted spec: Discovery crawl order): valid, broken, valid with a warning, or hidden on purpose.

export type Finding = About & ({ kind: 'holds'; detail: string; version?: number } | Complaint);

export interface About {
  /** `catalog`: the sum of its documents; `registry` and `network` come before the documents. */
  document: HostedDocument | 'registry' | 'network' | 'catalog';
  catalogId?: string;
  url?: string;
  /** Name of the key that signed it, after verification. */
  key?: string;
  /** Only for a catalog: the version in its entry, and its files. */
  entryVersion?: number;
  files?: string[];
}

export interface Complaint {
  kind: 'fault' | 'warning' | 'hidden';
  code: CrawlCode | keyof typeof ownHints;
  message: string;
  hint: string;
  /** For two values that should be equal. */
  compared?: Compared;
}

/** Reasons without a name in the crawler, because it does not check them, or accepts them. */
const ownHints = {
  'size-mismatch':
    'Publish the catalog again: readers decide by the size whether a baseline is cheaper than its changes.',
  'copies-differ': 'Copy the manifest to both of its places: readers use either.',
  'key-mismatch':
    'Register the key that signs under the name that it signs with, or restore the registered one and sign again (signpost keys show, signpost refresh --resign).',
  'local-key-differs':
    'Register this key (signpost keys show), or restore the registered one: otherwise nothing signed here from now on can be verified.',
  'other-address': 'Register the address where the files are: crawlers go where the registry says.',
  'not-in-network': 'Register the node as a member of the network: that is how crawlers find it.',
  'no-network': 'Join a network; otherwise the node is found only by crawlers whose operators name it.',
  consumer: 'Register the node as a BPP: crawlers skip participants that only consume.',
  'registry-unlisted':
    'Set meta.catalog_index_urls in the registry, too: crawlers that read no manifests look there (signpost registry catalog-index).',
  'nothing-published': 'Publish a catalog: signpost publish --self.',
  'not-listed': 'Publish the catalog, under exactly this id: signpost publish --self.',
  retired: 'Publish under a new catalogId: retirement is permanent.',
  paused: 'Make it active again: signpost resume.',
  'published-twice': duplicatesHint,
  'not-valid': 'Publish the catalog with a validity that includes the present time.',
} as const satisfies Record<string, string>;

const hints = { ...crawlHints, ...ownHints };

export function holds(about: About, detail: string, version?: number): Finding {
  return { kind: 'holds', ...about, detail, ...(version !== undefined && { version }) };
}

export function complaint(kind: Complaint['kind'], about: About, code: Complaint['code'], message: string) {
  return { kind, ...about, code, message, hint: hints[code] };
}

export function warning(about: About, code: Complaint['code'], message: string): Finding {
  return complaint('warning', about, code, message);
}

/** The fault behind an error. Throws if the registry is unreachable, except for the key of one catalog. */
export function fault(about: About, error: unknown): Finding {
  const isOfCatalog = about.catalogId !== undefined;
  if (!isReadingFault(error) || (error.code === 'registry-unavailable' && !isOfCatalog)) throw error;
  const found = complaint('fault', about, error.code, error.message);
  const { compared } = error instanceof TrustFault ? error : {};
  return compared ? { ...found, compared } : found;
}

/** A document past its next_update is still used, but every reader notices. */
export function staleness(about: About, nextUpdate: string | undefined, now: Date): Finding[] {
  if (nextUpdate === undefined || Date.parse(nextUpdate) >= now.getTime()) return [];
  return [warning(about, 'stale', `The ${about.document} was to be renewed by ${nextUpdate}.`)];
}
