import { createBreaks } from '../../breaks.ts';
import type { Offer, Resource } from '../../protocol/catalog.ts';
import { schemaTypesOfOffer, schemaTypesOfResource } from '../../rules/match.ts';
import type { Transaction } from '../../storage/database.ts';
import { entriesOfDocument } from '../entries/document-entries.ts';
import { indexFormats, newestOf } from '../entries/index-format.ts';
import type { WrittenGeneration } from '../generations/in-use.ts';
import { type Target, validityRow } from './catalog-rows.ts';
import {
  type DocumentKind,
  type OfferRow,
  type ResourceRow,
  readDocuments,
  removeDocuments,
  writeOffers,
  writeResources,
} from './document-rows.ts';
import { createIndexChanges, type IndexChanges } from './index-changes.ts';
import { planHeads, planSteps, type Step } from './plan-steps.ts';

/** Number of documents that are read, indexed and written at once, to limit memory. */
const documentsAtOnce = 2_000;

/** Applies the received catalogs, resources and offers together, so words are numbered once, and each list gets one part for all. */
export async function applyDocuments(
  tx: Transaction,
  targets: readonly Target[],
  generations: readonly WrittenGeneration[],
): Promise<void> {
  const steps = [
    ...planHeads(targets),
    ...(await planSteps(tx, 'resource', targets)),
    ...(await planSteps(tx, 'offer', targets)),
  ];
  let writing: Promise<void> = Promise.resolve();
  for (let start = 0; start < steps.length; start += documentsAtOnce) {
    const write = await prepareSteps(tx, steps.slice(start, start + documentsAtOnce), generations);
    await writing;
    // While the database writes, the next ones are prepared.
    writing = write();
    writing.catch(() => undefined); // thrown when awaited, a step later
  }
  await writing;
}

async function prepareSteps(
  tx: Transaction,
  steps: readonly Step[],
  generations: readonly WrittenGeneration[],
): Promise<() => Promise<void>> {
  const stored = await readReplaced(tx, steps);
  const changes = new Map(generations.map((each) => [each, createIndexChanges(each)]));
  const takeBreak = createBreaks();
  for (const step of steps) {
    addStep(changes, step, stored.get(step.key));
    await takeBreak();
  }
  return async () => {
    for (const each of changes.values()) await each.write(tx);
    await writeDocuments(tx, steps);
  };
}

/** The old documents, by key. */
async function readReplaced(tx: Transaction, steps: readonly Step[]): Promise<Map<number, object>> {
  const replaced = (kind: Step['kind']) => steps.filter((step) => step.kind === kind && step.replaces);
  const keysOf = (kind: DocumentKind) => replaced(kind).map(({ key }) => key);
  return new Map<number, object>([
    ...replaced('catalog').map(({ key, target }) => [key, target.before.head] as const),
    ...(await readDocuments(tx, 'resource', keysOf('resource'))),
    ...(await readDocuments(tx, 'offer', keysOf('offer'))),
  ]);
}

function addStep(
  changes: ReadonlyMap<WrittenGeneration, IndexChanges>,
  { kind, target, key, id, written }: Step,
  old: object | undefined,
): void {
  const { generations, incoming, unindexed } = target;
  const [entries] = generations.map((each) => changes.get(each)?.add(key, old, written?.document, incoming));
  // Without lists, the index is made from the documents later.
  const made = written && generations.length === 0 ? entriesOf(kind, written.document, incoming) : entries;
  for (const path of made?.unindexed ?? []) unindexed.push({ ...(id !== undefined && { id }), path });
  if (kind === 'catalog') return;
  if (old) countSchemaTypes(kind, target, old, -1);
  if (written) countSchemaTypes(kind, target, written.document, 1);
}

function entriesOf(kind: Step['kind'], document: object, options: Target['incoming']) {
  return entriesOfDocument(newestOf(indexFormats), kind, document, options);
}

function countSchemaTypes(kind: DocumentKind, { row }: Target, document: object, by: 1 | -1): void {
  const { schema_uses: uses } = row;
  const types =
    kind === 'resource' ? schemaTypesOfResource(document as Resource) : schemaTypesOfOffer(document as Offer);
  for (const type of types) {
    const count = (uses[type] ?? 0) + by;
    if (count > 0) uses[type] = count;
    else delete uses[type];
  }
}

async function writeDocuments(tx: Transaction, steps: readonly Step[]): Promise<void> {
  const [resources, offers]: [ResourceRow[], OfferRow[]] = [[], []];
  const leaving: Record<DocumentKind, number[]> = { resource: [], offer: [] };
  for (const { kind, target, key, id = '', written } of steps) {
    if (kind === 'catalog') continue;
    if (written === undefined) {
      leaving[kind].push(key);
      continue;
    }
    const row = { key, id, digest: written.digest, document: written.text };
    if (kind === 'resource') resources.push(row);
    else offers.push({ ...row, ...offerColumns(target, written.document as Offer) });
  }
  await writeResources(tx, resources);
  await removeDocuments(tx, 'resource', leaving.resource);
  await writeOffers(tx, offers);
  await removeDocuments(tx, 'offer', leaving.offer);
}

function offerColumns({ incoming, row }: Target, { resourceIds, provider, validity }: Offer) {
  return {
    owner: incoming.owner,
    provider_id: provider?.id ?? row.provider_id,
    resource_ids: resourceIds ?? null,
    ...validityRow(validity),
  };
}
