import {
  type CatalogDifference,
  type RememberedCatalog,
  remember,
  type SyncPlan,
} from '../../import/sync-plan.ts';
import type { Catalog } from '../../protocol/catalog.ts';
import type { JsonObject } from '../../protocol/json.ts';
import type { PublishResult } from '../../protocol/publish-messages.ts';
import type { TriggerResult } from '../../protocol/trigger-messages.ts';
import { type CommandContext, CommandError } from '../command.ts';
import { keepOperatorsWork, readPublished, renderKept } from '../import/published.ts';
import { splitRequest } from '../publish/input.ts';
import { publishHere } from '../publish/self.ts';
import type { PublishToOptions } from '../publish/to.ts';

// Publishing the differences that a plan has. A catalog of which only resources and offers have changed is published as a MERGE of these; every other one
// whole, with what its operator has done to it.

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

export async function publishPlan(
  { added, changed }: SyncPlan,
  retiring: ReadonlyMap<string, RememberedCatalog>,
  target: SyncTarget,
  context: CommandContext,
): Promise<Published> {
  const wholes = [...added, ...changed.filter(({ isWhole }) => isWhole).map(({ catalog }) => catalog)];
  const parts = changed.filter(({ isWhole }) => !isWhole);
  const submissions = [
    ...(await withOperatorsWork(wholes, changed, target, context)).map((catalog) =>
      submission(catalog, 'FULL', target),
    ),
    ...parts.map((difference) => submission(mergeOf(difference), 'MERGE', target)),
  ];
  const made = new Map([...added, ...changed.map(({ catalog }) => catalog)].map((one) => [one.id, one]));
  const published: Published = { accepted: new Map(), retired: [], refused: [] };
  for (const batch of batchesOf(submissions)) {
    for (const { catalogId, status, errors = [] } of await send(batch, target, context)) {
      const catalog = made.get(catalogId);
      if (status === 'ACCEPTED' && catalog) published.accepted.set(catalogId, remember(catalog));
      else
        published.refused.push({ catalogId, why: errors.map(({ message }) => message).join('; ') || status });
    }
  }
  published.retired = await retire(retiring, target, context);
  return published;
}

interface CatalogSubmission {
  catalog: Catalog;
  updateMode: 'FULL' | 'MERGE';
  visibleTo?: string[];
}

function submission(
  catalog: Catalog,
  updateMode: 'FULL' | 'MERGE',
  { network = [] }: SyncTarget,
): CatalogSubmission {
  return { catalog, updateMode, ...(network.length > 0 && { visibleTo: network }) };
}

/** Whether the catalog is active is not said: it stays as it is. */
function mergeOf({ catalog, resources, offers }: CatalogDifference): Catalog {
  const { resources: _resources, offers: _offers, isActive: _isActive, ...head } = catalog;
  return {
    ...head,
    ...(resources.length > 0 && { resources }),
    ...(offers.length > 0 && { offers }),
  };
}

/** As files, what is published is there to be read. Resources that have not changed stay as published, with the time at which their status was reported. */
async function withOperatorsWork(
  catalogs: readonly Catalog[],
  changed: readonly CatalogDifference[],
  { to }: SyncTarget,
  context: CommandContext,
): Promise<readonly Catalog[]> {
  if (to !== undefined || catalogs.length === 0) return catalogs;
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

/** So many resources that a request stays far below what the publisher accepts. */
const resourcesPerRequest = 20_000;

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

async function send(
  batch: readonly CatalogSubmission[],
  { to, ...options }: SyncTarget,
  context: CommandContext,
): Promise<readonly (PublishResult | TriggerResult)[]> {
  const message = {
    catalogs: batch.map(({ catalog }) => catalog),
    publishDirectives: batch.map(({ catalog: { id: catalogId }, updateMode, visibleTo }) => ({
      catalogId,
      catalogType: 'REGULAR',
      updateMode,
      ...(visibleTo && { visibleTo }),
    })),
  };
  if (to === undefined) return (await publishHere(context.config(), { message })).answer.results;
  const { publishTo } = await import('../publish/to.ts');
  const results: PublishResult[] = [];
  const request = { context: { action: 'catalog/publish' }, message } as unknown as JsonObject;
  for (const part of splitRequest(request, context.config().BODY_SIZE_LIMIT - envelopeBytes)) {
    const answer = await publishTo(part, { ...options, to }, context);
    if (!answer) throw new CommandError('The on_publish of the catalog service did not come.');
    results.push(...(answer.results ?? []));
  }
  return results;
}

/** Room for the context of a request. */
const envelopeBytes = 16 * 1024;

/** As files, for ever. A catalog service knows no retirement: there the catalog becomes inactive. */
async function retire(
  retiring: ReadonlyMap<string, RememberedCatalog>,
  target: SyncTarget,
  context: CommandContext,
): Promise<string[]> {
  if (retiring.size === 0) return [];
  const results =
    target.to === undefined
      ? (await publishHere(context.config(), { retire: [...retiring.keys()] })).answer.results
      : await send(
          [...retiring.values()].map(({ head }) =>
            submission({ ...head, isActive: false, resources: [] }, 'MERGE', target),
          ),
          target,
          context,
        );
  return results.filter(({ status }) => status === 'ACCEPTED').map(({ catalogId }) => catalogId);
}
