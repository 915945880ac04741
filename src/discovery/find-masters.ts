import { FetchFailure } from '../http/fetch-failure.ts';
import { actions } from '../protocol/actions.ts';
import { askService, StepFailed } from './ask-service.ts';
import type { DiscoveryContext } from './context.ts';
import { readHeads } from './split-catalogs.ts';

const catalogsPerPage = 20;
const maxPages = 10_000;
const maxAnswerBytes = 64 * 1024 * 1024;

/**
 * The ids of the MASTER catalogs of a network (catalog spec: POST /catalog/search). A pull does not say which of its catalogs are masters;
 * asked after it, the search knows all that it brought, because a catalog never changes its type.
 */
export async function findMasters(
  context: DiscoveryContext,
  { catalogUrl, networkId }: { catalogUrl: string; networkId: string },
  signal: AbortSignal,
): Promise<Set<string>> {
  const filters = { type: 'MASTER', networkIds: networkId === '' ? [] : [networkId] };
  const masters = new Set<string>();
  let limit = catalogsPerPage;
  for (let page = 0, offset = 0; page < maxPages; page += 1) {
    const message = { filters, limit, offset };
    const answer = await askService(context, {
      action: actions.search,
      catalogUrl,
      message,
      maxAnswerBytes,
      signal,
    }).catch((error) => {
      if (error instanceof FetchFailure && error.kind === 'too-large') return undefined;
      throw error;
    });
    if (answer === undefined) {
      if (limit === 1) throw new StepFailed(`a master catalog at ${catalogUrl} is too large to look at`);
      limit = 1;
      continue;
    }
    const ids = await readIds(answer.body);
    // Up to the empty page: a service may give fewer than it was asked for.
    if (ids.length === 0) return masters;
    for (const id of ids) masters.add(id);
    offset += ids.length;
  }
  throw new StepFailed(`the search for masters at ${catalogUrl} does not end`);
}

/** Only the ids: the rest of an answer of many megabytes is passed over. */
async function readIds(body: Buffer): Promise<string[]> {
  try {
    const heads = await readHeads([body], ['message', 'catalogs']);
    return heads.map(({ id }) => id).filter((id) => typeof id === 'string');
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw new StepFailed(`the answer to the search for masters cannot be read: ${reason}`, { cause: error });
  }
}
