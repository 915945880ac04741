import { actions } from '../../../src/protocol/actions.ts';
import type { Offer } from '../../../src/protocol/catalog.ts';
import type { Intent, OnDiscoverMessage } from '../../../src/protocol/discover-messages.ts';
import { readNack } from '../../../src/protocol/nack.ts';
import { coversResource, type Hit } from '../../../src/rules/hit.ts';
import { listRanked } from '../../../src/rules/ranked.ts';
import { askAndWait, type CallOptions, type Core } from './core.ts';
import { SignpostError } from './errors.ts';

export interface DiscoverOptions extends Omit<CallOptions, 'messageId'> {
  networkId?: string;
  /** Only resources and offers of these schemas, by context URI. */
  schemaContext?: string[];
  /** Number of resources per request (1 to 1,000, default 100). */
  pageSize?: number;
  /** Called with near misses if nothing is found. */
  onNothing?(reason: string): void;
  /** Called for each page with its signer and, if the service reports it, the number of matching resources. */
  onAnswer?(answer: { signer: string; total?: number }): void;
  /** Called with the number of resources received if a service without paging cut its answer: then narrow the question. */
  onTruncated?(resources: number): void;
}

/** Services count no further (protocol decision: discover). */
const maxExactTotal = 1_000;

/** A resource, with the offers in the answer that cover it, and its catalog without the other resources in the answer. */
export interface Found extends Hit {
  offers: Offer[];
  /** Rank in a text search, if the service sends it: higher is better. */
  rank?: number;
  /** Distance to the matching geometry in a search around a place, if the service reports it. */
  distanceMeters?: number;
}

/**
 * Yields the hits of a discovery service in its order and requests pages on demand (catalog spec: POST /discover). Each page is a separate request:
 * a hit that changes between two pages may occur twice or not at all. A string is a text search.
 */
export async function* discover(
  core: Core,
  intent: Intent | string,
  options: DiscoverOptions = {},
): AsyncGenerator<Found, void, void> {
  const { pageSize = 100, onNothing } = options;
  const asked = typeof intent === 'string' ? { textSearch: intent } : intent;
  let isPaged = true;
  for (let offset = 0; ; ) {
    const paging = isPaged ? { limit: pageSize, offset } : {};
    const page = await askForPage(core, { intent: asked, ...paging }, options).catch((error: unknown) => {
      if (!isPaged || !refusesPaging(error)) throw error;
      isPaged = false;
      return 'unpaged' as const;
    });
    if (page === 'unpaged') continue;
    if ('nothing' in page) {
      if (offset === 0) onNothing?.(page.nothing);
      return;
    }
    const { pagination } = page;
    const found = listFound(page);
    yield* found;
    const count = found.length;
    offset += count;
    if (!pagination || count === 0) return;
    // Above that, the total is a lower bound: then only a page that is not full is the last one.
    const isExact = pagination.total <= maxExactTotal;
    if (offset >= pagination.total && (isExact || count < pageSize)) return;
  }
}

async function askForPage(
  core: Core,
  message: object,
  { networkId, schemaContext, context, ...options }: DiscoverOptions,
): Promise<OnDiscoverMessage | { nothing: string }> {
  const scope = { ...(networkId !== undefined && { networkId }), ...(schemaContext && { schemaContext }) };
  const question = { action: actions.discover, service: 'discovery', message } as const;
  const asking = { ...options, context: { ...context, ...scope } };
  const { answer, callback } = await askAndWait(core, question, asking);
  const truncated = answer.truncated ?? callback?.truncated;
  if (truncated !== undefined) options.onTruncated?.(truncated);
  if (callback) options.onAnswer?.({ signer: callback.signer, total: callback.message.pagination?.total });
  return callback ? callback.message : { nothing: readNack(answer.body).message ?? 'Nothing was found.' };
}

/** A closed schema refuses limit and offset, which are not in the specification. Beckn-ONIX names their parent object, once for each. */
function refusesPaging(error: unknown): boolean {
  if (!(error instanceof SignpostError) || error.status !== 400) return false;
  const { path = '', code } = error;
  if (/^\$\.message\.(limit|offset)$/.test(path)) return true;
  return code === 'SCH_FIELD_NOT_ALLOWED' && path.split(';').every((one) => one === 'message');
}

function listFound(message: OnDiscoverMessage): Found[] {
  return listRanked(message).map(({ catalog: { resources: _, offers = [], ...catalog }, ...hit }) => ({
    ...hit,
    offers: offers.filter((offer) => coversResource(offer, hit.resource)),
    catalog,
  }));
}
