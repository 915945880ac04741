import { FetchFailure } from '../http/fetch-failure.ts';
import { actions } from '../protocol/actions.ts';
import type { OnPullMessage } from '../protocol/pull-messages.ts';
import { findCopies } from '../storage/feeds/copies.ts';
import type { Feed } from '../storage/feeds/feeds.ts';
import { sourceOf } from './apply-copies.ts';
import { applyPulled, type PageOutcome } from './apply-pulled.ts';
import { askService, StepFailed } from './ask-service.ts';
import type { DiscoveryContext } from './context.ts';
import { downloadPull } from './download-pull.ts';
import { downloadedParts, inlineParts, type PulledPart } from './pulled-parts.ts';
import { readHeads } from './split-catalogs.ts';

const maxPages = 100_000;

/** Applies the page of an on_pull (catalog spec: POST /catalog/on_pull); `next` is the offset of the next page, if any. FAILED applies nothing. */
export async function applyAnswer(context: DiscoveryContext, feed: Feed, body: Buffer, signal: AbortSignal) {
  // Checked on arrival (on-pull.ts).
  const message: OnPullMessage = JSON.parse(body.toString('utf8')).message;
  const { status, catalogs = [], downloadManifest, pagination, error } = message;
  if (status === 'FAILED')
    throw new StepFailed(`${actions.onPull.name} is FAILED: ${error?.code} ${error?.message}`);
  if (!downloadManifest) {
    const ids = catalogs.map(({ id }) => id);
    const outcome = await apply(ids, inlineParts(catalogs));
    return { outcome, next: nextOffset(feed, ids.length, pagination) };
  }
  const { catalog_url: catalogUrl } = feed;
  const download = await downloadPull(context, downloadManifest, { catalogUrl, signal });
  try {
    const heads = await readHeads(download.read(), ['catalogs']).catch((error) => {
      throw new StepFailed(`the download cannot be read: ${error.message}`, { cause: error });
    });
    const ids = heads.map(({ id }) => id).filter((id) => typeof id === 'string');
    const outcome = await apply(ids, downloadedParts(download.read(), heads, context.logger));
    return { outcome, next: nextOffset(feed, heads.length, pagination) };
  } finally {
    await download.close();
  }

  async function apply(ids: readonly string[], parts: AsyncIterable<PulledPart>): Promise<PageOutcome> {
    const { id: feedId, run, service, network_id: networkId, sent_at: sentAt } = feed;
    if (service === null || run === null || sentAt === null)
      throw new StepFailed('the identity of the catalog service is not known');
    // A known catalog never changes its type; the service has the type of new ones.
    const held = await findCopies(context.database, sourceOf(service), ids);
    const isAllHeld = ids.every((id) => held.has(id));
    const masters = isAllHeld ? new Set<string>() : await findMasters(context, feed, signal);
    const typeOf = (id: string) => held.get(id)?.type ?? (masters.has(id) ? 'MASTER' : 'REGULAR');
    return applyPulled(context, { feedId, run, service, networkId, sentAt, typeOf }, parts, signal);
  }
}

/** The service decides the length of pages, which may be less than requested. */
function nextOffset({ page_offset: offset }: Feed, found: number, pagination: OnPullMessage['pagination']) {
  const next = offset + (pagination && pagination.limit > 0 ? Math.min(pagination.limit, 100) : found);
  const isLast = pagination ? next >= pagination.total : found === 0;
  if (isLast) return undefined;
  if (found === 0) throw new StepFailed(`the page at ${offset} is empty, and not the last`);
  if (offset / 100 > maxPages) throw new StepFailed('the pull does not end');
  return next;
}

const mastersPerPage = 20;
const maxMasterPages = 10_000;
const maxAnswerBytes = 64 * 1024 * 1024;

/** The ids of the MASTER catalogs of a network (catalog spec: POST /catalog/search): a pull does not show which catalogs are masters. */
async function findMasters(
  context: DiscoveryContext,
  { catalog_url: catalogUrl, network_id: networkId }: Feed,
  signal: AbortSignal,
): Promise<Set<string>> {
  const filters = { type: 'MASTER', networkIds: networkId === '' ? [] : [networkId] };
  const masters = new Set<string>();
  let limit = mastersPerPage;
  for (let page = 0, offset = 0; page < maxMasterPages; page += 1) {
    const message = { filters, limit, offset };
    const question = { action: actions.search, catalogUrl, message, maxAnswerBytes, signal };
    const answer = await askService(context, question).catch((error) => {
      if (error instanceof FetchFailure && error.kind === 'too-large') return undefined;
      throw error;
    });
    if (answer === undefined) {
      if (limit === 1) throw new StepFailed(`a master catalog at ${catalogUrl} is too large to read`);
      limit = 1;
      continue;
    }
    const ids = await readIds(answer.body);
    // Reads up to the empty page: a service may return fewer than requested.
    if (ids.length === 0) return masters;
    for (const id of ids) masters.add(id);
    offset += ids.length;
  }
  throw new StepFailed(`the search for masters at ${catalogUrl} does not end`);
}

/** Only the ids: the rest of an answer of many megabytes is skipped. */
async function readIds(body: Buffer): Promise<string[]> {
  try {
    const heads = await readHeads([body], ['message', 'catalogs']);
    return heads.map(({ id }) => id).filter((id) => typeof id === 'string');
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw new StepFailed(`the answer to the search for masters cannot be read: ${reason}`, { cause: error });
  }
}
