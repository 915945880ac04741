import type { Fetcher } from '../../discovery/crawl/fetch.ts';
import type { Reader } from '../../discovery/crawl/reader.ts';
import { policyOf } from '../../discovery/crawl/settings.ts';
import type { Examination } from '../../discovery/inspect/examine-node.ts';
import type { Finding } from '../../discovery/inspect/findings.ts';
import { nameSigners } from '../../discovery/inspect/name-signers.ts';
import { examine, type Patient } from '../../discovery/inspect/walk.ts';
import { identityOf, isSubscriberId } from '../../protocol/identity.ts';
import type { RegistryClient } from '../../registry/client.ts';
import type { IndexedCatalog } from '../../storage/console/subjects.ts';
import type { CatalogStatus } from '../../storage/crawl/status.ts';
import type { ChainLink } from '../answers/inspect.ts';
import type { ConsoleContext } from '../context.ts';
import { ConsoleError } from '../errors.ts';
import { buildChain, type Fetches, link } from './chain.ts';

// The chain of a self-hosted node, walked like a new crawler, and the state of it in this discovery service.

export interface WalkTools {
  reader: Reader;
  registry: RegistryClient;
  fetches: Fetches;
  signal: AbortSignal;
}

/** Limit of bytes on the wire per inspection: users choose the node, and the node chooses its files. */
const maxFetchedBytes = 64 * 1024 * 1024;

export function recordFetches(
  fetcher: Fetcher,
  now: () => Date,
  maxBytes = maxFetchedBytes,
): { fetcher: Fetcher; fetches: Fetches } {
  const fetches = new Map<string, { bytes: number; at: Date }>();
  let leftBytes = maxBytes;
  return {
    fetches,
    fetcher: {
      async fetch(url, options) {
        const fetched = await fetcher.fetch(url, options);
        if (fetched.kind !== 'file') return fetched;
        const { length: bytes } = fetched.file.wire;
        fetches.set(url, { bytes, at: now() });
        leftBytes -= bytes;
        if (leftBytes < 0) throw tooLarge(maxBytes);
        return fetched;
      },
    },
  };
}

function tooLarge(maxBytes: number): ConsoleError {
  const said = `The files have more than ${maxBytes / 1024 / 1024} MiB: an inspection reads no more.`;
  return new ConsoleError('SCH_SCHEMA_VALIDATION_FAILED', said, {
    ...{ status: 413, hint: 'Name one of its catalogs; or run signpost doctor, which reads all of it.' },
  });
}

export function examinationOf(
  { config, now }: Pick<ConsoleContext, 'config' | 'now'>,
  { reader, registry, signal }: WalkTools,
  network: string | undefined,
): Examination {
  const named = config.DISCOVERY_NODES.filter((one) => isSubscriberId(one));
  return {
    ...{ reader, registry, now: now(), signal },
    policy: { ...policyOf(config), ...(network !== undefined && { networkIds: [network] }) },
    named: named.map((id) => identityOf(id, config.REGISTRY_NAME)),
  };
}

export async function walkChain(exam: Examination, patient: Patient, { fetches }: WalkTools) {
  const findings: Finding[] = [];
  const keys = { exam, identity: patient.identity, localKeys: [] };
  for await (const finding of nameSigners(examine(exam, patient), keys)) findings.push(finding);
  return { chain: buildChain(findings, fetches), findings };
}

export function linkToIndex(
  catalogId: string,
  live: number | undefined,
  crawled: CatalogStatus | undefined,
  held: IndexedCatalog | null,
): ChainLink {
  const about = { catalogId, ...(held && { at: held.updatedAt }) };
  if (!crawled)
    return link('indexed', 'broken', `This discovery service has not seen ${catalogId} yet.`, {
      ...about,
      hint: 'Crawl its node now, and make sure that the node is in a network that this discovery service reads.',
    });
  const { state, version, waitingFor, nextAt } = crawled;
  const code = crawled.lastCode ?? undefined;
  const hint = nextAt ? `It will be checked again at ${nextAt.toISOString()}.` : 'Crawl its node now.';
  if (!held?.isServed || version === null)
    return link('indexed', 'broken', `${catalogId} is not served: ${state}${nameMasters(waitingFor)}.`, {
      ...{ ...about, code, hint },
    });
  if (state === 'paused')
    return link('indexed', 'warning', `Version ${version} is kept, but paused by its publisher.`, {
      ...{ ...about, code: 'paused', hint: 'Make it active again: signpost resume.' },
    });
  const versions = { expected: `version ${live}`, got: `version ${version}` };
  if (live !== undefined && live !== version)
    return link('indexed', 'warning', `Version ${version} is served, but version ${live} is live.`, {
      ...{ ...about, ...versions, code, hint },
    });
  return link('indexed', 'ok', `Version ${version} with ${crawled.resources} resources is served.`, about);
}

function nameMasters(waitingFor: readonly string[] | null): string {
  return waitingFor && waitingFor.length > 0 ? ` (${waitingFor.join(', ')})` : '';
}
