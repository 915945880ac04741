import type { PackedCatalog } from '../../import/packed-catalog.ts';
import { type RememberedCatalog, remember, type SyncPlan } from '../../import/sync-plan.ts';
import type { Catalog, Resource } from '../../protocol/catalog.ts';
import type { PublishResult } from '../../protocol/publish-messages.ts';
import type { TriggerResult } from '../../protocol/trigger-messages.ts';
import type { PublishedCatalog } from '../../publisher/build.ts';
import type { PublishedTree } from '../../publisher/published.ts';
import { batchesOf } from '../../rules/inherited-bytes.ts';
import type { CommandContext } from '../command.ts';
import { createKeeper, readPublished } from '../import/published.ts';
import { publishHere } from '../publish/self.ts';
import type { PublishToOptions } from '../publish/to.ts';
import { acceptedOf, type CatalogSubmission, mergeOf, messageOf } from './submission.ts';

// Publishes the differences in a plan. If only resources and offers of a catalog have changed, it publishes them as a MERGE. A replaced catalog
// keeps its operator's changes.

export interface SyncTarget extends Omit<PublishToOptions, 'to'> {
  to?: string;
  network?: string[];
}

export interface Published {
  accepted: Map<string, RememberedCatalog>;
  retired: string[];
  refused: { catalogId: string; why: string }[];
}

/** @param isFirst nothing of this source is remembered: catalogs that are new to us may have been published before */
export async function publishPlan(
  plan: SyncPlan,
  retiring: ReadonlyMap<string, RememberedCatalog>,
  { isFirst, target, context }: { isFirst: boolean; target: SyncTarget; context: CommandContext },
): Promise<Published> {
  const { to, ...options } = target;
  const service =
    to === undefined ? undefined : (await import('./service.ts')).openService({ ...options, to }, context);
  const made = new Map<string, () => RememberedCatalog>([
    ...plan.added.map(({ id, unpack }) => [id, () => remember(unpack())] as const),
    ...plan.changed.map(({ catalog, remembered }) => [catalog.id, () => remembered] as const),
  ]);
  const published: Published = { accepted: new Map(), retired: [], refused: [] };
  const sent = service ? service.send(plan, isFirst) : sendHere(plan, target, context);
  for await (const results of sent) take(results, made, published);
  if (retiring.size > 0) published.retired = await (service?.retire ?? retireHere)(retiring, context);
  return published;
}

/** A catalog sent in parts is accepted if all parts are. */
function take(
  results: readonly (PublishResult | TriggerResult)[],
  made: ReadonlyMap<string, () => RememberedCatalog>,
  { accepted, refused }: Published,
): void {
  for (const { catalogId, status, errors = [] } of results) {
    const rememberIt = made.get(catalogId);
    const isRefused = refused.some((one) => one.catalogId === catalogId);
    if (status === 'ACCEPTED' && rememberIt && !isRefused) accepted.set(catalogId, rememberIt());
    else if (!isRefused) {
      accepted.delete(catalogId);
      refused.push({ catalogId, why: errors.map(({ message }) => message).join('; ') || status });
    }
  }
}

async function* sendHere({ added, changed }: SyncPlan, { network }: SyncTarget, context: CommandContext) {
  const config = context.config();
  const keeper = createKeeper(config.WIRE_PROFILE);
  let published: PublishedTree | undefined;
  const submitWhole = async ({ id, unpack }: PackedCatalog, news?: readonly Resource[]) => {
    published ??= await readPublished(config);
    const current = await published.find(id);
    const catalog = keepUnchanged(keeper.keep(unpack(), current), current, news);
    return { catalog, updateMode: 'FULL' as const };
  };
  const pending: Pending[] = [
    ...added.map((one) => ({ resources: one.resourceCount, submit: () => submitWhole(one) })),
    ...changed.map((one) =>
      one.isRemoving || one.hasOtherHead
        ? { resources: one.catalog.resourceCount, submit: () => submitWhole(one.catalog, one.resources) }
        : { resources: one.resources.length, submit: async () => mergeOf(one) },
    ),
  ];
  for (const batch of batchesOf(pending, ({ resources }) => resources, resourcesPerRequest)) {
    const submissions: CatalogSubmission[] = [];
    for (const { submit } of batch) submissions.push(await submit());
    yield (await publishHere(config, { message: messageOf(submissions, network) })).answer.results;
  }
  for (const line of keeper.render()) context.note(line);
}

/** Unchanged resources stay as published, with the time of their reported status. */
function keepUnchanged(
  catalog: Catalog,
  current: PublishedCatalog | undefined,
  news: readonly Resource[] | undefined,
): Catalog {
  const published = current?.content?.resources;
  if (!published || !news) return catalog;
  const newIds = new Set(news.map(({ id }) => id));
  const resources = catalog.resources?.map((one) =>
    newIds.has(one.id) ? one : (published.get(one.id) ?? one),
  );
  return { ...catalog, ...(resources && { resources }) };
}

/** A catalog that is unpacked when its turn comes. */
interface Pending {
  resources: number;
  submit(): Promise<CatalogSubmission>;
}

/** Keeps requests far below the limits of the publisher, and saves memory. */
const resourcesPerRequest = 5_000;

/** Retires them permanently. */
async function retireHere(retiring: ReadonlyMap<string, RememberedCatalog>, context: CommandContext) {
  const { answer } = await publishHere(context.config(), { retire: [...retiring.keys()] });
  return acceptedOf(answer.results);
}
