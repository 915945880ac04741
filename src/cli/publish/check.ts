import type { Config } from '../../config.ts';
import { crawlHints, isReadingFault } from '../../discovery/crawl/reasons.ts';
import type { Complaint } from '../../discovery/inspect/findings.ts';
import { readAsCrawler } from '../../discovery/inspect/read-as-crawler.ts';
import type { TreeReader } from '../../discovery/inspect/tree-reader.ts';
import { verifyCatalog } from '../../discovery/inspect/verify-catalog.ts';
import { type TreeSource, verifyNode } from '../../discovery/inspect/verify-node.ts';
import { identityOf } from '../../protocol/identity.ts';
import type { TriggerResult } from '../../protocol/trigger-messages.ts';
import { announcedVersion } from '../../rules/self-hosted/reading-plan.ts';
import type { HostingNode } from '../../rules/self-hosted/signer.ts';
import type { TrustedEntry } from '../../rules/self-hosted/trust-index.ts';
import { createChainReader } from '../chain-reader.ts';
import { type CommandContext, counted, withProgress } from '../command.ts';
import { withRegistry } from '../send/exchange.ts';
import { httpSource } from '../verify/source.ts';

// Checks after a publish whether readers find and verify the files at the public address. The files may still have to be copied there.

export type PublicCheck = Awaited<ReturnType<typeof checkPublic>>;

/** Every entry is checked, but the files of only this many catalogs. */
const maxCatalogs = 100;
const withinMs = 60_000;

export async function checkPublic(
  config: Config,
  results: readonly TriggerResult[],
  context: CommandContext,
) {
  const { id, url } = config.identities.publisher;
  const registryName = config.REGISTRY_NAME;
  const node = { identity: identityOf(id, registryName), recordSubscriberId: id, registryName };
  const signal = AbortSignal.timeout(withinMs);
  const found = await withProgress(context, `verifying the files at ${url}`, () =>
    withRegistry(config, async (registry, client) => {
      const source = httpSource(url, config, client, [config.catalogBaseUrl]);
      const chain = await createChainReader(config, { fetcher: source.fetcher, registry });
      return findProblem(readAsCrawler(chain, signal), source, node, results);
    }).catch((error: unknown) => problemOf(error, signal)),
  );
  if (found) {
    const message =
      found === 'registry-unavailable'
        ? `The files at ${url} were not verified: the registry cannot be queried for keys.`
        : `${url} does not show this version: ${found.problem} ${found.advice}`;
    return { url, isVerified: false, message };
  }
  const some = results.length > maxCatalogs ? `, with the files of ${maxCatalogs} of them` : '';
  const count = counted(results.length, 'catalog');
  return { url, isVerified: true, message: `Verified at ${url}: ${count} as published${some}.` };
}

interface Problem {
  problem: string;
  advice: string;
}

async function findProblem(
  reader: TreeReader,
  source: TreeSource,
  node: HostingNode,
  results: readonly TriggerResult[],
): Promise<Problem | undefined> {
  const walk = verifyNode({ source, reader, node, now: new Date() });
  let step = await walk.next();
  for (; !step.done; step = await walk.next())
    if (step.value.kind === 'fault') return problemWith(step.value);
  if (step.value === undefined) return notThere('No index was found there.');
  const { node: verified, indexUrls } = step.value;
  const entries = new Map<string, TrustedEntry>();
  for (const url of indexUrls) {
    const index = await reader.readIndex(verified, url);
    for (const trusted of index.entries) entries.set(trusted.entry.catalogId, trusted);
  }
  for (const result of results) {
    const difference = findDifference(result, entries.get(result.catalogId));
    if (difference !== undefined) return notThere(difference);
  }
  for (const { catalogId } of results.slice(0, maxCatalogs)) {
    const trusted = entries.get(catalogId);
    if (trusted === undefined) continue;
    const findings = await verifyCatalog({ reader, node: verified, isExact: false }, trusted);
    for (const finding of findings) if (finding.kind === 'fault') return problemWith(finding);
  }
  return undefined;
}

function findDifference({ catalogId, version }: TriggerResult, trusted?: TrustedEntry): string | undefined {
  if (trusted === undefined) return `No index there lists ${catalogId}.`;
  const found = announcedVersion(trusted.entry);
  // Someone else may have published meanwhile.
  if (version === undefined || (found !== undefined && found >= version)) return undefined;
  return found === undefined
    ? `${catalogId} is retired there.`
    : `${catalogId} is there in version ${found}, not ${version}.`;
}

function problemOf(error: unknown, signal: AbortSignal): Problem | 'registry-unavailable' {
  if (signal.aborted) return notThere(`It could not be read within ${withinMs / 1_000} s.`);
  if (!isReadingFault(error)) throw error;
  if (error.code === 'registry-unavailable') return error.code;
  return problemWith({ code: error.code, message: error.message, hint: crawlHints[error.code] });
}

function problemWith({ code, message, hint }: Pick<Complaint, 'code' | 'message' | 'hint'>): Problem {
  return absences.includes(code) ? notThere(message) : { problem: message, advice: hint };
}

/** Codes for a host that lacks a file, or has an older one than the index or manifest names. */
const absences: readonly string[] = [
  ...['manifest-missing', 'file-missing', 'http-status', 'unreachable', 'timeout', 'digest-mismatch'],
];

function notThere(problem: string): Problem {
  return {
    problem,
    advice: 'If you copy the files to a host, copy them now and run "signpost verify" with that address.',
  };
}
