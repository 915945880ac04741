import { createBreaks } from '../../breaks.ts';
import type { Offer, Resource } from '../../protocol/catalog.ts';
import { schemaTypesOfOffer, schemaTypesOfResource } from '../../rules/match.ts';
import type { Transaction } from '../../storage/database.ts';
import type { Generation } from '../generations/in-use.ts';
import { keyOf } from '../keys.ts';
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
import { type DocumentStep, planSteps, type WrittenDocument } from './plan-steps.ts';
import type { Removals } from './removals.ts';
import { type Target, validityRow } from './target.ts';

/** How many documents are read, indexed and written at a time: bounds memory. */
const documentsAtOnce = 2_000;

type Step = DocumentStep | HeadStep;

/** What is said of a catalog and its provider is said of all its resources: it is indexed once, under the catalog's own key. */
interface HeadStep {
  kind: 'catalog';
  target: Target;
}

/**
 * Brings what is said of the targets, their resources and their offers to what was sent. All kinds go through the index together: words are numbered once, and a list gets one
 * part of all of them.
 */
export async function applyDocuments(
  tx: Transaction,
  targets: readonly Target[],
  generations: readonly Generation[],
  removals: Removals,
): Promise<void> {
  const steps: Step[] = [
    ...planHeads(targets),
    ...(await planSteps(tx, 'resource', targets)),
    ...(await planSteps(tx, 'offer', targets)),
  ];
  let writing: Promise<void> = Promise.resolve();
  for (let start = 0; start < steps.length; start += documentsAtOnce) {
    const write = await prepareSteps(tx, steps.slice(start, start + documentsAtOnce), generations, removals);
    await writing;
    // While the database writes, the next ones are prepared.
    writing = write();
    writing.catch(() => undefined); // it is awaited, and thrown, a step later
  }
  await writing;
}

function planHeads(targets: readonly Target[]): HeadStep[] {
  return targets
    .filter(({ before, row }) => !before.known || before.head_digest !== row.head_digest)
    .map((target) => ({ kind: 'catalog', target }));
}

async function prepareSteps(
  tx: Transaction,
  steps: readonly Step[],
  generations: readonly Generation[],
  removals: Removals,
): Promise<() => Promise<void>> {
  const documents = steps.filter((step) => step.kind !== 'catalog');
  const stored = await readReplaced(tx, documents);
  const changes = new Map(generations.map((each) => [each, createIndexChanges(each)]));
  const takeBreak = createBreaks();
  for (const step of steps) {
    if (step.kind === 'catalog') addHead(changes, step.target);
    else addDocument(changes, step, stored.get(step.key));
    await takeBreak();
  }
  return async () => {
    for (const [generation, each] of changes) await each.write(tx, removals.of(generation));
    await writeDocuments(tx, documents);
  };
}

async function readReplaced(
  tx: Transaction,
  steps: readonly DocumentStep[],
): Promise<Map<number, Resource & Offer>> {
  const replaced = steps.filter(({ replaces }) => replaces);
  const keysOf = (kind: DocumentKind) => replaced.filter((step) => step.kind === kind).map(({ key }) => key);
  return new Map([
    ...(await readDocuments(tx, 'resource', keysOf('resource'))),
    ...(await readDocuments(tx, 'offer', keysOf('offer'))),
  ]);
}

type Changes = ReadonlyMap<Generation, IndexChanges>;

function addHead(changes: Changes, { incoming, before, row, generations, unindexed }: Target): void {
  for (const generation of generations) {
    const old = before.known ? before.head : undefined;
    const entries = changes.get(generation)?.add(keyOf(row.key, 0), old, row.head, incoming);
    if (generation === generations[0]) for (const path of entries?.unindexed ?? []) unindexed.push({ path });
  }
}

function addDocument(
  changes: Changes,
  { kind, target, key, id, written }: DocumentStep,
  old: (Resource & Offer) | undefined,
): void {
  const { generations, incoming, unindexed } = target;
  for (const generation of generations) {
    const entries = changes.get(generation)?.add(key, old, written?.document, incoming);
    if (generation === generations[0])
      for (const path of entries?.unindexed ?? []) unindexed.push({ id, path });
  }
  if (old) countSchemaTypes(kind, target, old, -1);
  if (written) countSchemaTypes(kind, target, written.document, 1);
}

async function writeDocuments(tx: Transaction, steps: readonly DocumentStep[]): Promise<void> {
  const [resources, offers]: [ResourceRow[], OfferRow[]] = [[], []];
  const leaving: Record<DocumentKind, number[]> = { resource: [], offer: [] };
  for (const step of steps) {
    const { kind, key, id, written } = step;
    if (written === undefined) {
      leaving[kind].push(key);
      continue;
    }
    const row = { key, id, digest: written.digest, document: written.text };
    if (kind === 'resource') resources.push(row);
    else offers.push({ ...row, ...offerColumns(step, written) });
  }
  await writeResources(tx, resources);
  await removeDocuments(tx, 'resource', leaving.resource);
  await writeOffers(tx, offers);
  await removeDocuments(tx, 'offer', leaving.offer);
}

function offerColumns({ target }: DocumentStep, { document }: WrittenDocument) {
  const { resourceIds, provider, validity } = document as Offer;
  return {
    owner: target.incoming.owner,
    provider_id: provider?.id ?? target.row.provider_id,
    resource_ids: resourceIds ?? null,
    ...validityRow(validity),
  };
}

function countSchemaTypes(
  kind: DocumentKind,
  { row: { schema_uses: uses } }: Target,
  document: Resource | Offer,
  by: 1 | -1,
): void {
  const types =
    kind === 'resource' ? schemaTypesOfResource(document as Resource) : schemaTypesOfOffer(document as Offer);
  for (const type of types) {
    const count = (uses[type] ?? 0) + by;
    if (count > 0) uses[type] = count;
    else delete uses[type];
  }
}
