import { createBreaks } from '../../breaks.ts';
import type { Offer, Resource } from '../../protocol/catalog.ts';
import { schemaTypesOfOffer, schemaTypesOfResource } from '../../rules/match.ts';
import type { Transaction } from '../../storage/database.ts';
import {
  type DocumentKind,
  type IndexedDocument,
  type OfferRow,
  type ResourceRow,
  readDocuments,
  removeDocuments,
  writeOffers,
  writeResources,
} from '../documents/documents.ts';
import { keyOf, numberOf } from '../documents/keys.ts';
import type { ListRemovals } from '../lists/remove.ts';
import { entriesOfDocument } from './document-entries.ts';
import { createIndexChanges, type IndexChanges, type PackedEntries } from './index-changes.ts';
import { type DocumentStep, planSteps, type WrittenDocument } from './plan-steps.ts';
import type { ReachChanges } from './reach.ts';
import { readEntries, readHeadEntries } from './stored-entries.ts';
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
  removals: ListRemovals,
  reach: ReachChanges,
): Promise<void> {
  const steps: Step[] = [
    ...planHeads(targets),
    ...(await planSteps(tx, 'resource', targets)),
    ...(await planSteps(tx, 'offer', targets)),
  ];
  for (const step of steps) noteReach(reach, step);
  let writing: Promise<void> = Promise.resolve();
  for (let start = 0; start < steps.length; start += documentsAtOnce) {
    const write = await prepareSteps(tx, steps.slice(start, start + documentsAtOnce), removals);
    await writing;
    // While the database writes, the next ones are prepared.
    writing = write();
    writing.catch(() => undefined); // it is awaited, and thrown, a step later
  }
  await writing;
}

function noteReach(reach: ReachChanges, step: Step): void {
  if (step.kind === 'catalog' || step.written === undefined) return;
  const { row, incoming, formatOf } = step.target;
  const home = { key: row.key, owner: incoming.owner };
  if (step.kind === 'resource') {
    if (!step.replaces) reach.noteResource(home, step.id);
    return;
  }
  const offer = step.written.document as Offer;
  reach.noteOffer(home, { ...offer, isStanding: formatOf(numberOf(step.key)).isStanding(offer) });
}

function planHeads(targets: readonly Target[]): HeadStep[] {
  return targets
    .filter(({ before, row }) => !before.known || before.head_digest !== row.head_digest)
    .map((target) => ({ kind: 'catalog', target }));
}

async function prepareSteps(
  tx: Transaction,
  steps: readonly Step[],
  removals: ListRemovals,
): Promise<() => Promise<void>> {
  const heads = steps.filter((step) => step.kind === 'catalog');
  const documents = steps.filter((step) => step.kind !== 'catalog');
  const stored = await readReplaced(tx, documents);
  const changes = createIndexChanges();
  const takeBreak = createBreaks();
  for (const step of [...heads, ...documents]) {
    if (step.kind === 'catalog') addHead(changes, step.target);
    else addDocument(changes, step, stored.get(step.key));
    await takeBreak();
  }
  return async () => {
    const packed = await changes.write(tx, removals);
    for (const { target } of heads) target.row.words = packed.get(keyOf(target.row.key, 0))?.words ?? null;
    await writeDocuments(tx, documents, packed);
  };
}

async function readReplaced(
  tx: Transaction,
  steps: readonly DocumentStep[],
): Promise<Map<number, IndexedDocument>> {
  const replaced = steps.filter(({ replaces }) => replaces);
  const keysOf = (kind: DocumentKind) => replaced.filter((step) => step.kind === kind).map(({ key }) => key);
  return new Map([
    ...(await readDocuments(tx, 'resource', keysOf('resource'))),
    ...(await readDocuments(tx, 'offer', keysOf('offer'))),
  ]);
}

function addHead(changes: IndexChanges, { incoming, before, row, formatOf, unindexed }: Target): void {
  const entries = entriesOfDocument(formatOf(), 'catalog', row.head, incoming);
  changes.add(
    formatOf(),
    keyOf(row.key, 0),
    before.known ? readHeadEntries(before.words) : undefined,
    entries,
  );
  unindexed.push(...entries.unindexed.map((path) => ({ path })));
}

function addDocument(
  changes: IndexChanges,
  { kind, target, key, id, written }: DocumentStep,
  stored: IndexedDocument | undefined,
): void {
  const old: Resource | Offer | undefined = stored && JSON.parse(stored.document);
  const format = target.formatOf(numberOf(key));
  const before = stored && old && readEntries(format, kind, stored, old);
  const entries = written && entriesOfDocument(format, kind, written.document, target.incoming);
  changes.add(format, key, before, entries);
  for (const path of entries?.unindexed ?? []) target.unindexed.push({ id, path });
  if (old) countSchemaTypes(kind, target, old, -1);
  if (written) countSchemaTypes(kind, target, written.document, 1);
}

async function writeDocuments(
  tx: Transaction,
  steps: readonly DocumentStep[],
  packed: ReadonlyMap<number, PackedEntries>,
): Promise<void> {
  const [resources, offers]: [ResourceRow[], OfferRow[]] = [[], []];
  const leaving: Record<DocumentKind, number[]> = { resource: [], offer: [] };
  for (const step of steps) {
    const { kind, key, id, written } = step;
    if (written === undefined) {
      leaving[kind].push(key);
      continue;
    }
    const { words, isStanding } = packed.get(key) as PackedEntries;
    const row = { key, id, digest: written.digest, document: written.text, words };
    if (kind === 'resource') resources.push(row);
    else offers.push({ ...row, isStanding, ...offerColumns(step, written) });
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
