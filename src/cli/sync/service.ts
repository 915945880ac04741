import { FetchFailure } from '../../http/guarded-client.ts';
import { chargerContext } from '../../import/charger-resource.ts';
import type { CatalogDifference, RememberedCatalog } from '../../import/sync-plan.ts';
import { isImportedOffer } from '../../import/tariff-offer.ts';
import type { Catalog, Offer, Resource } from '../../protocol/catalog.ts';
import { endpoints } from '../../protocol/endpoints.ts';
import type { JsonObject } from '../../protocol/json.ts';
import type { PublishResult } from '../../protocol/publish-messages.ts';
import type { SearchAnswer } from '../../protocol/search-messages.ts';
import { type CommandContext, CommandError } from '../command.ts';
import { splitRequest } from '../publish/input.ts';
import { type PublishToOptions, publishTo } from '../publish/to.ts';
import { exchange, withRegistry } from '../send/exchange.ts';
import { isAccepted, readRefusal } from '../send/report.ts';
import { buildRequest, prepareDraft } from '../send/request.ts';
import { resolveSigner } from '../send/signer.ts';
import { acceptedOf, type CatalogSubmission, mergeOf, messageOf } from './submission.ts';

// A sync to a catalog service. MERGE adds and replaces resources and offers and leaves the others as they are. Only FULL takes something away, and with it all
// that the request does not repeat (catalog spec: publishDirectives): so a catalog that loses something is read back by a search, and what the sync did not make
// is repeated. The service knows no retirement: a retired catalog becomes inactive.

interface ServiceTarget extends PublishToOptions {
  network?: string[];
}

export function openService(target: ServiceTarget, context: CommandContext) {
  const maxBytes = context.config().BODY_SIZE_LIMIT - envelopeBytes;

  async function* send(submissions: readonly CatalogSubmission[]): AsyncGenerator<PublishResult[]> {
    for (const some of requestsOf(submissions, maxBytes)) {
      const request = { message: messageOf(some, target.network) } as unknown as JsonObject;
      for (const part of splitRequest(request, maxBytes)) {
        const answer = await publishTo(part, target, context);
        if (!answer) throw new CommandError('The on_publish of the catalog service did not come.');
        yield answer.results ?? [];
      }
    }
  }

  async function submissionsOf(
    added: readonly Catalog[],
    changed: readonly CatalogDifference[],
    isFirst: boolean,
  ): Promise<CatalogSubmission[]> {
    const replaced: Pick<CatalogDifference, 'catalog' | 'isBack'>[] = [
      ...(isFirst ? added.map((catalog) => ({ catalog, isBack: false })) : []),
      ...changed.filter(({ isRemoving }) => isRemoving),
    ];
    const merged = [
      ...(isFirst ? [] : added),
      ...changed.filter(({ isRemoving }) => !isRemoving).map(mergeOf),
    ];
    const served = await readServed(new Set(replaced.map(({ catalog }) => catalog.id)), target, context);
    return [
      ...replaced.map(({ catalog, isBack }) => ({
        catalog: keepServed(catalog, served.get(catalog.id), isBack),
        updateMode: 'FULL' as const,
      })),
      ...merged.map((catalog) => ({ catalog, updateMode: 'MERGE' as const })),
    ];
  }

  async function retire(retiring: ReadonlyMap<string, RememberedCatalog>): Promise<string[]> {
    const submissions = [...retiring.values()].map(({ head }) => ({
      catalog: { ...head, isActive: false, resources: [] },
      updateMode: 'MERGE' as const,
    }));
    const retired: string[] = [];
    for await (const results of send(submissions)) retired.push(...acceptedOf(results));
    return retired;
  }
  return { send, submissionsOf, retire };
}

/** Room for the context of a request. */
const envelopeBytes = 16 * 1024;

/** Members and offers that the sync did not make stay, a pause among them. */
function keepServed(catalog: Catalog, served: Catalog | undefined, isBack: boolean): Catalog {
  const { offers: present = [], ...others } = served ?? {};
  // First, so that they are in the first part of a catalog that is sent in parts.
  const offers = [...present.filter((offer) => !isImportedOffer(offer)), ...(catalog.offers ?? [])];
  return {
    ...{ ...others, ...catalog },
    ...(isBack && { isActive: true }),
    ...(offers.length > 0 && { offers }),
  };
}

/** A catalog that is too large for one request is sent in parts: the first in its mode, the others as MERGE. */
function* requestsOf(
  submissions: readonly CatalogSubmission[],
  maxBytes: number,
): Generator<CatalogSubmission[]> {
  const small: CatalogSubmission[] = [];
  for (const one of submissions) {
    const parts = divide(one, maxBytes);
    if (parts.length === 1) small.push(one);
    else for (const part of parts) yield [part];
  }
  if (small.length > 0) yield small;
}

function divide({ catalog, updateMode }: CatalogSubmission, maxBytes: number): CatalogSubmission[] {
  const { resources = [], offers = [], ...head } = catalog;
  const headBytes = bytesOf(head) + directiveBytes;
  const parts: CatalogSubmission[] = [];
  let bytes = Number.POSITIVE_INFINITY;
  const add = (item: Resource | Offer, member: 'resources' | 'offers') => {
    const own = bytesOf(item) + 1;
    bytes += own;
    if (bytes > maxBytes) {
      parts.push({ catalog: { ...head }, updateMode: parts.length === 0 ? updateMode : 'MERGE' });
      bytes = headBytes + own;
    }
    const last = parts.at(-1)?.catalog as Catalog;
    last[member] ??= [];
    last[member].push(item);
  };
  for (const offer of offers) add(offer, 'offers');
  for (const resource of resources) add(resource, 'resources');
  return parts.length > 1 ? parts : [{ catalog, updateMode }];
}

const directiveBytes = 4 * 1024;

function bytesOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Those of the catalogs that the service has: the search has no filter for ids, so its pages are read until all are found. */
async function readServed(
  ids: ReadonlySet<string>,
  target: ServiceTarget,
  context: CommandContext,
): Promise<Map<string, Catalog>> {
  const found = new Map<string, Catalog>();
  let limit = catalogsPerPage;
  for (let offset = 0; found.size < ids.size; ) {
    const page = await search({ limit, offset }, target, context).catch((error: unknown) => {
      const isTooLarge = error instanceof CommandError && isTooLargeAnswer(error.cause);
      if (!isTooLarge || limit === 1) throw error;
      return undefined;
    });
    if (page === undefined) limit = 1;
    // Up to the empty page: a service may give fewer than it was asked for.
    else if (page.length === 0) break;
    else offset += page.length;
    for (const catalog of page ?? []) if (ids.has(catalog.id)) found.set(catalog.id, catalog);
  }
  return found;
}

const catalogsPerPage = 20;

function isTooLargeAnswer(cause: unknown): boolean {
  return cause instanceof FetchFailure && cause.kind === 'too-large';
}

async function search(
  page: { limit: number; offset: number },
  options: ServiceTarget,
  context: CommandContext,
): Promise<Catalog[]> {
  const config = context.config();
  const self = resolveSigner({ ...options, as: options.as ?? config.identities.publisher.id }, config);
  const filters = { type: 'REGULAR', schemaTypes: [chargerContext] };
  const draft = prepareDraft({
    ...{ to: options.to, method: 'POST', action: endpoints.search.name },
    bytes: Buffer.from(JSON.stringify({ message: { filters, ...page } })),
  });
  const sent = buildRequest(draft, { self, uri: config.identities.publisher.url, now: new Date() });
  const answer = await withRegistry(config, (registry, client) => exchange(sent, registry, client));
  if (isAccepted(answer)) return (answer.body as unknown as SearchAnswer).message.catalogs as Catalog[];
  const { code, reason } = readRefusal(answer.body);
  throw new CommandError(`The catalog service does not say what it has, ${answer.status} ${code}: ${reason}`);
}
