import { FetchFailure } from '../../http/guarded-client.ts';
import { chargerContext } from '../../import/charger-resource.ts';
import type { PackedCatalog } from '../../import/packed-catalog.ts';
import type { RememberedCatalog, SyncPlan } from '../../import/sync-plan.ts';
import { isImportedOffer } from '../../import/tariff-offer.ts';
import type { Catalog, Offer, Resource } from '../../protocol/catalog.ts';
import { endpoints } from '../../protocol/endpoints.ts';
import type { PublishResult } from '../../protocol/publish-messages.ts';
import type { SearchAnswer } from '../../protocol/search-messages.ts';
import { batchesOf } from '../../rules/inherited-bytes.ts';
import { type CommandContext, CommandError } from '../command.ts';
import { type PublishToOptions, publishTo } from '../publish/to.ts';
import { sendMessage } from '../send/exchange.ts';
import { isAccepted, readRefusal } from '../send/report.ts';
import { acceptedOf, type CatalogSubmission, mergeOf, messageOf } from './submission.ts';

// A sync to a catalog service. MERGE keeps what it does not name. Only FULL removes something, but it removes everything that the request does not
// repeat (catalog spec: publishDirectives). So if a catalog loses something, a search reads it back, and the parts that are not from the sync are
// repeated. The service knows no retirement: a retired catalog becomes inactive.

interface ServiceTarget extends PublishToOptions {
  network?: string[];
}

export function openService(target: ServiceTarget, context: CommandContext) {
  const maxBytes = context.config().BODY_SIZE_LIMIT - envelopeBytes;

  async function* publish(submissions: Iterable<CatalogSubmission>): AsyncGenerator<PublishResult[]> {
    const parts = function* () {
      for (const submission of submissions) yield* divide(submission, maxBytes);
    };
    for (const some of batchesOf(parts(), ({ bytes }) => bytes, maxBytes)) {
      const answer = await publishTo({ message: messageOf(some, target.network) }, target, context);
      if (!answer) throw new CommandError('The on_publish of the catalog service did not come.');
      yield answer.results ?? [];
    }
  }

  async function* send({ added, changed }: SyncPlan, isFirst: boolean): AsyncGenerator<PublishResult[]> {
    const replaced = [
      ...(isFirst ? added : []),
      ...changed.filter(({ isRemoving }) => isRemoving).map(({ catalog }) => catalog),
    ];
    const served = await readServed(new Set(replaced.map(({ id }) => id)), target, context);
    const replace = ({ id, unpack }: PackedCatalog, isBack: boolean): CatalogSubmission => {
      return { catalog: keepServed(unpack(), served.get(id), isBack), updateMode: 'FULL' };
    };
    function* submissions(): Generator<CatalogSubmission> {
      for (const one of added)
        yield isFirst ? replace(one, false) : { catalog: one.unpack(), updateMode: 'MERGE' };
      for (const one of changed) yield one.isRemoving ? replace(one.catalog, one.isBack) : mergeOf(one);
    }
    yield* publish(submissions());
  }

  async function retire(retiring: ReadonlyMap<string, RememberedCatalog>): Promise<string[]> {
    const submissions = [...retiring.values()].map(({ head }) => ({
      catalog: { ...head, isActive: false, resources: [] },
      updateMode: 'MERGE' as const,
    }));
    const retired: string[] = [];
    for await (const results of publish(submissions)) retired.push(...acceptedOf(results));
    return retired;
  }
  return { send, retire };
}

/** Room for the context of a request. */
const envelopeBytes = 16 * 1024;

/** Keeps members and offers that are not from the sync, including a pause. */
function keepServed(catalog: Catalog, served: Catalog | undefined, isBack: boolean): Catalog {
  const { offers: present = [], ...others } = served ?? {};
  // These come first, so that they are in the first part of a divided catalog.
  const offers = [...present.filter((offer) => !isImportedOffer(offer)), ...(catalog.offers ?? [])];
  return {
    ...{ ...others, ...catalog },
    ...(isBack && { isActive: true }),
    ...(offers.length > 0 && { offers }),
  };
}

/** A catalog that is too large for one request is sent in parts: the first in its mode, the others as MERGE. */
function divide({ catalog, updateMode }: CatalogSubmission, maxBytes: number): SizedSubmission[] {
  const { resources = [], offers = [], ...head } = catalog;
  const headBytes = bytesOf(head) + directiveBytes;
  let part: SizedSubmission = { catalog: { ...head, resources: [] }, updateMode, bytes: headBytes };
  const parts = [part];
  const add = (item: Resource | Offer, member: 'resources' | 'offers') => {
    const own = bytesOf(item) + 1;
    if (part.bytes + own > maxBytes && part.bytes > headBytes) {
      part = { catalog: { ...head, resources: [] }, updateMode: 'MERGE', bytes: headBytes };
      parts.push(part);
    }
    part.catalog[member] ??= [];
    part.catalog[member].push(item);
    part.bytes += own;
  };
  for (const offer of offers) add(offer, 'offers');
  for (const resource of resources) add(resource, 'resources');
  return parts;
}

interface SizedSubmission extends CatalogSubmission {
  bytes: number;
}

const directiveBytes = 4 * 1024;

function bytesOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Reads those of the catalogs that the service has. The search cannot filter by id, so it reads pages until all are found. */
async function readServed(ids: ReadonlySet<string>, target: ServiceTarget, context: CommandContext) {
  const found = new Map<string, Catalog>();
  let limit = catalogsPerPage;
  for (let offset = 0; found.size < ids.size; ) {
    const page = await search({ limit, offset }, target, context).catch((error: unknown) => {
      const cause = error instanceof CommandError ? error.cause : undefined;
      const isTooLarge = cause instanceof FetchFailure && cause.kind === 'too-large';
      if (!isTooLarge || limit === 1) throw error;
      return undefined;
    });
    if (page === undefined) limit = 1;
    // Reads up to the empty page: a service may return fewer than requested.
    else if (page.length === 0) break;
    else offset += page.length;
    for (const catalog of page ?? []) if (ids.has(catalog.id)) found.set(catalog.id, catalog);
  }
  return found;
}

const catalogsPerPage = 20;

async function search(
  page: { limit: number; offset: number },
  options: ServiceTarget,
  context: CommandContext,
): Promise<Catalog[]> {
  const config = context.config();
  const { id, url: uri } = config.identities.publisher;
  const { to, as = id, keyId, key } = options;
  const filters = { type: 'REGULAR', schemaTypes: [chargerContext] };
  const answer = await sendMessage(config, {
    ...{ to, as, keyId, key, uri },
    ...{ action: endpoints.search.name, message: { filters, ...page } },
  });
  if (isAccepted(answer)) return (answer.body as unknown as SearchAnswer).message.catalogs as Catalog[];
  const { code, reason } = readRefusal(answer.body);
  const refusal = `${answer.status} ${code}: ${reason}`;
  throw new CommandError(`The catalog service did not list its catalogs, ${refusal}`);
}
