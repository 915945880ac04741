import type { Body } from '../network/actor.ts';
import type { PassedAnswer, PassedRequest } from './broken-service.ts';
import { accepted, type PlantedFault } from './request-faults.ts';

// Faults of a discovery service that crawls, one for each check that should find it: to callers, the service seems to have indexed something that it
// must not, or to lack something that it must have. Questions that are repeated for some time are slow, so such faults are planted alone.

type Group = PlantedFault['group'];

/** The resource that a question is about, by its name in crawl-stages.ts. */
function askedFor({ path, body }: PassedRequest): string | undefined {
  const expression: unknown = body?.message?.intent?.filters?.expression;
  if (path !== '/discover' || typeof expression !== 'string') return undefined;
  return /@\.id == 'conform-[0-9a-f]{8}-([a-z0-9-]+)'/.exec(expression)?.[1];
}

/** A fault from the moment when the command asks for `since`. */
function inCrawl(
  { check, what, resource, since = resource, group }: CrawlFault,
  spoil: (answer: PassedAnswer, request: PassedRequest) => void,
): PlantedFault {
  let isPlanted = false;
  return {
    ...{ check, what, group },
    answer(answer, request) {
      const name = askedFor(request);
      // A new run starts without the fault.
      if (name === 'sound' && since !== 'sound') isPlanted = false;
      if (name === since) isPlanted = true;
      if (isPlanted && name === resource) spoil(answer, request);
    },
  };
}

interface CrawlFault {
  check: string;
  what: string;
  resource: string;
  since?: string;
  group: Group;
}

/** The resource is found although the service does not have it. */
const indexed = (check: string, what: string, resource: string, group: Group = 1, since = resource) =>
  inCrawl({ check, what, resource, since, group }, (answer, request) => {
    if (answer.status !== 202) return;
    accepted(answer, request);
    const id = /'([^']+)'/.exec(request.body.message.intent.filters.expression)?.[1];
    const context = { ...request.body.context, action: 'on_discover', ...sender };
    answer.also = [{ action: 'on_discover', body: { context, message: { catalogs: [catalogWith(id)] } } }];
  });

/** The resource is not found although the service has it. */
const lost = (check: string, what: string, resource: string, since = resource) =>
  inCrawl({ check, what, resource, since, group: 'alone' }, (answer) => {
    answer.status = 202;
  });

const sender = { bppId: 'discovery-service.signpost.test', bppUri: 'http://127.0.0.1' };

function catalogWith(id: string | undefined): Body {
  const descriptor = { name: 'Not verified' };
  return { id: 'crawled', descriptor, provider: { id: 'p', descriptor }, resources: [{ id, descriptor }] };
}

export const crawlFaults: readonly PlantedFault[] = [
  lost('crawl-finds', 'nothing that is hosted is indexed', 'sound'),
  indexed('crawl-index-signed', 'the signature of an index is not verified', 'index-signed'),
  indexed('crawl-index-of-node', 'the index of any node is taken', 'index-of-node'),
  indexed('crawl-entry-signed', 'the signature of an entry is not verified', 'entry-signed'),
  indexed('crawl-file-signed', 'the signature of a baseline is not verified', 'file-signed'),
  indexed('crawl-file-digest', 'the digest of a baseline is not verified', 'file-digest'),
  indexed('crawl-key-registered', 'the keys of the manifest are trusted', 'key-registered'),
  indexed('crawl-file-of-entry', 'the file of any catalog is taken', 'file-of-entry'),
  indexed('crawl-file-version', 'the version in a file does not matter', 'file-version'),
  indexed('crawl-attributes-checked', 'a file is applied in part', 'attributes-checked'),
  indexed('crawl-paused', 'a paused catalog is found', 'paused'),
  lost('crawl-gzip', 'gzipped files are not read', 'gzipped'),
  lost('crawl-change-applied', 'changes are not applied', 'sound-2'),
  indexed('crawl-change-removes', 'removals are not applied', 'removed', 'alone'),
  indexed('crawl-change-digest', 'the digest of a change is not verified', 'change-digest-2'),
  indexed('crawl-change-signed', 'the signature of a change is not verified', 'change-signed-2'),
  indexed('crawl-entry-rollback', 'an older entry is applied', 'entry-rollback-2'),
  indexed('crawl-content-rollback', 'an older baseline is applied', 'content-rollback-2'),
  lost('crawl-absent-kept', 'what is absent is deleted', 'absent', 'sound-2'),
  indexed('crawl-retired', 'a retired catalog is found', 'retired', 'alone', 'sound-2'),
  lost('crawl-shared-kept', 'it goes with the retired catalog', 'shared'),
  lost('crawl-resumed', 'a pause is for ever', 'paused', 'sound-2'),
  indexed('crawl-retired-for-ever', 'a retired catalog comes back', 'retired-2'),
  indexed('crawl-record-digest', 'the digest of the record is not verified', 'record-digest'),
  indexed('crawl-record-signed', 'the signature of the record is not verified', 'record-signature'),
  indexed('crawl-manifest-signed', 'the signature of the manifest is not verified', 'manifest-signature'),
];
