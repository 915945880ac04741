import { bigintArray } from '../../storage/binary-arrays.ts';
import { decodeKeys } from '../documents/members.ts';
import { catalogKeyOf } from '../keys.ts';
import { inBatches, type Keys, keysOf } from '../set/sorted.ts';
import type { Tools } from '../tools.ts';
import { type CatalogTexts, evaluateUrl, selectInCatalogs, testDocuments } from './evaluate.ts';
import type { FilterPlan } from './plan.ts';

// Evaluates a filter on resources, offers, or whole catalogs with their own offers, if lists cannot decide. Holds no connection between batches.

/** Number of documents that are read and evaluated at once. */
const atOnce = { resource: 500, offer: 10_000 };
/** Maximum of resources and offers of whole catalogs in memory at once, or a single catalog. */
const documentsAtOnce = 50_000;
/** Characters: a cheap filter on fewer is evaluated here, because copying them to a thread would take longer. */
const maxInlineCharacters = 1_000_000;

/** Selects among resources. */
export function evaluateFilter(tools: Tools, plan: FilterPlan): (keys: Keys) => Promise<Keys> {
  return plan.test ? (keys) => selectEach(tools, plan, 'resource', keys) : selectByCatalogs(tools, plan);
}

/** For a filter that examines each resource, or each offer, separately. */
export async function selectEach(tools: Tools, plan: FilterPlan, kind: 'resource' | 'offer', keys: Keys) {
  const { reader, deadline, evaluation } = tools;
  const test = plan.cheap && kind === 'resource' ? plan.test : undefined;
  const selected: number[] = [];
  for (const batch of inBatches(keys, atOnce[kind])) {
    deadline.check();
    if (!test) await evaluation.begin();
    const rows = await reader.rows<{ key: number; text: string }>(
      `select key, document::text as text from unnest($1::bigint[]) as wanted (key) join discovery.${kind} using (key)`,
      [bigintArray(batch)],
      { prepared: true },
    );
    const texts = rows.map(({ text }) => text);
    const characters = texts.reduce((sum, { length }) => sum + length, 0);
    const input = { ...plan.source, list: `${kind}s`, texts };
    const positions =
      test && characters <= maxInlineCharacters
        ? texts.flatMap((text, position) => (test(JSON.parse(text)) ? [position] : []))
        : await evaluation.run<number[]>('filter', { module: evaluateUrl, name: testDocuments.name, input });
    for (const position of positions) selected.push(rows[position]?.key ?? 0);
  }
  return keysOf(selected);
}

/** For a filter that examines whole catalogs. Evaluates each catalog once per search, for any candidates among its resources. */
export function selectByCatalogs(tools: Tools, plan: FilterPlan): (keys: Keys) => Promise<Keys> {
  const known = new Map<number, ReadonlySet<number>>();
  return async (keys) => {
    const unseen = [...new Set(Array.from(keys, catalogKeyOf))].filter((key) => !known.has(key));
    for await (const catalogs of streamCatalogs(tools, unseen)) {
      const positions = await tools.evaluation.run<Uint32Array[]>('filter', {
        module: evaluateUrl,
        name: selectInCatalogs.name,
        input: { ...plan.source, catalogs: catalogs.map(({ texts }) => texts), now: tools.scope.now },
      });
      for (const [index, { key, resources }] of catalogs.entries())
        known.set(key, new Set(Array.from(positions[index] ?? [], (position) => resources[position] ?? 0)));
    }
    return keys.filter((key) => known.get(catalogKeyOf(key))?.has(key));
  };
}

/** Batches of catalogs with no more documents than may be in memory at once. */
async function* streamCatalogs(tools: Tools, keys: readonly number[]) {
  const sizes = await tools.reader.rows<{ key: number; documents: number }>(
    `select key, (select count(*) from discovery.resource where resource.key > catalog.key << 26 and resource.key < (catalog.key + 1) << 26)
       + (select count(*) from discovery.offer where offer.key > catalog.key << 26 and offer.key < (catalog.key + 1) << 26) as documents
     from unnest($1::bigint[]) as catalog (key)`,
    [bigintArray(keys)],
    { prepared: true },
  );
  let batch: number[] = [];
  let count = 0;
  for (const { key, documents } of sizes) {
    if (batch.length > 0 && count + documents > documentsAtOnce) {
      yield await readCatalogs(tools, batch);
      [batch, count] = [[], 0];
    }
    batch.push(key);
    count += documents;
  }
  if (batch.length > 0) yield await readCatalogs(tools, batch);
}

type CatalogRow = Omit<CatalogTexts, 'resourceIds'> & {
  key: number;
  resourceKeys: Buffer | null;
  resourceIds: string[] | null;
};

async function readCatalogs({ reader, evaluation, deadline }: Tools, keys: readonly number[]) {
  deadline.check();
  await evaluation.begin();
  const listed = (kind: string) =>
    `'[' || coalesce(string_agg(${kind}.document::text, ',' order by ${kind}.key), '') || ']'`;
  const rows = await reader.rows<CatalogRow>(
    `select catalog.key, owner, id, provider_id as "providerId", head::text as head, resources.*, offers.*
     from unnest($1::bigint[]) as wanted (key) join discovery.catalog using (key)
     cross join lateral (
       select string_agg(int8send(resource.key), '' order by resource.key) as "resourceKeys", array_agg(resource.id order by resource.key) as "resourceIds",
         ${listed('resource')} as resources
       from discovery.resource where resource.key > catalog.key << 26 and resource.key < (catalog.key + 1) << 26) as resources
     cross join lateral (
       select ${listed('offer')} as offers from discovery.offer where offer.key > catalog.key << 26 and offer.key < (catalog.key + 1) << 26) as offers
     order by catalog.key`,
    [bigintArray(keys)],
  );
  return rows.map(({ key, resourceKeys, resourceIds, ...texts }) => ({
    key,
    resources: decodeKeys(resourceKeys),
    texts: { ...texts, resourceIds: resourceIds ?? [] },
  }));
}
