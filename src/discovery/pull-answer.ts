import { actions } from '../protocol/actions.ts';
import type { CatalogType } from '../protocol/catalog.ts';
import type { DownloadManifest, OnPullMessage } from '../protocol/pull-messages.ts';
import { findCopies } from '../storage/feeds/copies.ts';
import type { Feed } from '../storage/feeds/feeds.ts';
import { sourceOf } from './apply-copies.ts';
import { applyPulled, type PageOutcome } from './apply-pulled.ts';
import { StepFailed } from './ask-service.ts';
import type { DiscoveryContext } from './context.ts';
import { downloadPull } from './download-pull.ts';
import { findMasters } from './find-masters.ts';
import { downloadedParts, inlineParts, type PulledPart } from './pulled-parts.ts';
import { readHeads } from './split-catalogs.ts';

const maxPages = 100_000;

interface AppliedPage {
  outcome: PageOutcome;
  /** The offset of the next page; undefined when this was the last. */
  next?: number;
}

/** Applies the page that an on_pull brought (catalog spec: POST /catalog/on_pull). FAILED applies nothing, whatever its code. */
export async function applyAnswer(
  context: DiscoveryContext,
  feed: Feed,
  body: Buffer,
  signal: AbortSignal,
): Promise<AppliedPage> {
  // Checked when it came (on-pull.ts).
  const message: OnPullMessage = JSON.parse(body.toString('utf8')).message;
  const { status, catalogs = [], downloadManifest, pagination, error } = message;
  if (status === 'FAILED')
    throw new StepFailed(`${actions.onPull.name} is FAILED: ${error?.code} ${error?.message}`);
  if (downloadManifest) return applyDownload(context, feed, downloadManifest, pagination, signal);
  const ids = catalogs.map(({ id }) => id);
  const outcome = await apply(context, feed, ids, inlineParts(catalogs), signal);
  return { outcome, next: nextOffset(feed, ids.length, pagination) };
}

async function applyDownload(
  context: DiscoveryContext,
  feed: Feed,
  manifest: DownloadManifest,
  pagination: OnPullMessage['pagination'],
  signal: AbortSignal,
): Promise<AppliedPage> {
  const download = await downloadPull(context, manifest, { catalogUrl: feed.catalog_url, signal });
  try {
    const heads = await readHeads(download.read(), ['catalogs']).catch((error) => {
      throw new StepFailed(`the download cannot be read: ${error.message}`, { cause: error });
    });
    const ids = heads.map(({ id }) => id).filter((id) => typeof id === 'string');
    const parts = downloadedParts(download.read(), heads, context.logger);
    const outcome = await apply(context, feed, ids, parts, signal);
    return { outcome, next: nextOffset(feed, heads.length, pagination) };
  } finally {
    await download.close();
  }
}

async function apply(
  context: DiscoveryContext,
  feed: Feed,
  ids: readonly string[],
  parts: AsyncIterable<PulledPart>,
  signal: AbortSignal,
): Promise<PageOutcome> {
  const { id: feedId, run, service, network_id: networkId, sent_at: sentAt } = feed;
  if (service === null || run === null || sentAt === null)
    throw new StepFailed('it is not known who the catalog service is');
  const typeOf = await findTypes(context, feed, service, ids, signal);
  const page = { feedId, run, service, networkId, sentAt, typeOf };
  return applyPulled(context, page, parts, signal);
}

/** A known catalog never changes its type; for a new one, the service is asked. */
async function findTypes(
  context: DiscoveryContext,
  { catalog_url: catalogUrl, network_id: networkId }: Feed,
  service: string,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<(catalogId: string) => CatalogType> {
  const held = await findCopies(context.database, sourceOf(service), ids);
  const isAllHeld = ids.every((id) => held.has(id));
  const masters = isAllHeld
    ? new Set<string>()
    : await findMasters(context, { catalogUrl, networkId }, signal);
  return (id) => held.get(id)?.type ?? (masters.has(id) ? 'MASTER' : 'REGULAR');
}

/** Pages have the length that the service says, which may be less than was asked for. */
function nextOffset(
  { page_offset: offset }: Feed,
  found: number,
  pagination: OnPullMessage['pagination'],
): number | undefined {
  const next = offset + (pagination && pagination.limit > 0 ? Math.min(pagination.limit, 100) : found);
  const isLast = pagination ? next >= pagination.total : found === 0;
  if (isLast) return undefined;
  if (found === 0) throw new StepFailed(`the page at ${offset} is empty, and not the last`);
  if (offset / 100 > maxPages) throw new StepFailed('the pull does not end');
  return next;
}
