import {
  type CatalogDifference,
  type RememberedCatalog,
  remember,
  type SyncPlan,
} from '../../import/sync-plan.ts';
import type { Catalog } from '../../protocol/catalog.ts';
import type { PublishResult } from '../../protocol/publish-messages.ts';
import type { TriggerResult } from '../../protocol/trigger-messages.ts';
import type { CommandContext } from '../command.ts';
import { keepOperatorsWork, readPublished, renderKept } from '../import/published.ts';
import { publishHere } from '../publish/self.ts';
import type { PublishToOptions } from '../publish/to.ts';
import { acceptedOf, type CatalogSubmission, mergeOf, messageOf } from './submission.ts';

// Publishing the differences that a plan has. A catalog of which only resources and offers have changed is published as a MERGE of these; a catalog that is
// replaced keeps what its operator has done to it.

export interface SyncTarget extends Omit<PublishToOptions, 'to'> {
  to?: string;
  network?: string[];
}

export interface Published {
  /** What is published now of each catalog that was accepted. */
  accepted: Map<string, RememberedCatalog>;
  retired: string[];
  refused: { catalogId: string; why: string }[];
}

type Results = AsyncIterable<readonly (PublishResult | TriggerResult)[]>;

/** @param isFirst nothing of this source is remembered: catalogs that are new to us may have been published before */
export async function publishPlan(
  { added, changed }: SyncPlan,
  retiring: ReadonlyMap<string, RememberedCatalog>,
  { isFirst, target, context }: { isFirst: boolean; target: SyncTarget; context: CommandContext },
): Promise<Published> {
  const { to, ...options } = target;
  const service =
    to === undefined ? undefined : (await import('./service.ts')).openService({ ...options, to }, context);
  const submissions = service
    ? await service.submissionsOf(added, changed, isFirst)
    : await submissionsOf(added, changed, context);
  const send = service?.send ?? ((some) => sendHere(some, target, context));
  const made = new Map<string, () => RememberedCatalog>([
    ...added.map((one) => [one.id, () => remember(one)] as const),
    ...changed.map(({ catalog, remembered }) => [catalog.id, () => remembered] as const),
  ]);
  const published: Published = { accepted: new Map(), retired: [], refused: [] };
  for await (const results of send(submissions)) take(results, made, published);
  if (retiring.size > 0) published.retired = await (service?.retire ?? retireHere)(retiring, context);
  return published;
}

/** A catalog that was sent in parts is accepted when all of them are. */
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

/** As files, what is published is there to be read. */
async function submissionsOf(
  added: readonly Catalog[],
  changed: readonly CatalogDifference[],
  context: CommandContext,
): Promise<CatalogSubmission[]> {
  const isWhole = ({ isRemoving, hasOtherHead }: CatalogDifference) => isRemoving || hasOtherHead;
  const wholes = [...added, ...changed.filter(isWhole).map(({ catalog }) => catalog)];
  return [
    ...(await withOperatorsWork(wholes, changed, context)).map((catalog) => ({
      catalog,
      updateMode: 'FULL' as const,
    })),
    ...changed
      .filter((one) => !isWhole(one))
      .map((one) => ({ catalog: mergeOf(one), updateMode: 'MERGE' as const })),
  ];
}

/** Resources that have not changed stay as published, with the time at which their status was reported. */
async function withOperatorsWork(
  catalogs: readonly Catalog[],
  changed: readonly CatalogDifference[],
  context: CommandContext,
): Promise<readonly Catalog[]> {
  if (catalogs.length === 0) return catalogs;
  const config = context.config();
  const published = await readPublished(config);
  const kept = await keepOperatorsWork(catalogs, published, config.WIRE_PROFILE);
  for (const line of renderKept(kept)) context.note(line);
  const news = new Map(
    changed.map(({ catalog, resources }) => [catalog.id, new Set(resources.map(({ id }) => id))]),
  );
  return Promise.all(
    kept.catalogs.map(async (catalog) => {
      const isNew = news.get(catalog.id);
      const current = isNew && (await published.find(catalog.id))?.content?.resources;
      if (!current) return catalog;
      const resources = (catalog.resources ?? []).map((one) =>
        isNew.has(one.id) ? one : (current.get(one.id) ?? one),
      );
      return { ...catalog, resources };
    }),
  );
}

async function* sendHere(
  submissions: readonly CatalogSubmission[],
  { network }: SyncTarget,
  context: CommandContext,
): Results {
  for (const batch of batchesOf(submissions)) {
    const message = messageOf(batch.map(copyOf), network);
    yield (await publishHere(context.config(), { message })).answer.results;
  }
}

/** The publisher keeps the text of items as long as these are in memory: a copy goes with the request, not with the plan. */
function copyOf({ catalog, updateMode }: CatalogSubmission): CatalogSubmission {
  const { resources = [], offers = [] } = catalog;
  const copies = {
    resources: resources.map((one) => ({ ...one })),
    ...(offers.length > 0 && { offers: offers.map((one) => ({ ...one })) }),
  };
  return { catalog: { ...catalog, ...copies }, updateMode };
}

/** So many resources that a request stays far below what the publisher accepts, and takes little memory. */
const resourcesPerRequest = 5_000;

function* batchesOf(submissions: readonly CatalogSubmission[]): Generator<CatalogSubmission[]> {
  let batch: CatalogSubmission[] = [];
  let resources = 0;
  for (const one of submissions) {
    batch.push(one);
    resources += one.catalog.resources?.length ?? 0;
    if (resources < resourcesPerRequest) continue;
    yield batch;
    [batch, resources] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

/** For ever. */
async function retireHere(
  retiring: ReadonlyMap<string, RememberedCatalog>,
  context: CommandContext,
): Promise<string[]> {
  const { answer } = await publishHere(context.config(), { retire: [...retiring.keys()] });
  return acceptedOf(answer.results);
}
