import { setImmediate as immediate } from 'node:timers/promises';
import type { Offer, Resource } from '../../protocol/catalog.ts';
import { schemaTypesOfOffer, schemaTypesOfResource } from '../../rules/match.ts';
import type { Transaction } from '../../storage/database.ts';
import {
  type DocumentKind,
  type OfferRow,
  type ResourceRow,
  readDigests,
  readDocuments,
  removeDocuments,
  type StoredDocument,
  writeOffers,
  writeResources,
} from '../documents/documents.ts';
import { keyOf, lastNumbers, numberOf } from '../documents/keys.ts';
import type { ListRemovals } from '../lists/remove.ts';
import { hash53 } from './attribute-entries.ts';
import { entriesOfDocument } from './document-entries.ts';
import { createIndexChanges, type PackedEntries } from './index-changes.ts';
import { readEntries } from './stored-entries.ts';
import { type Target, validityRow } from './target.ts';

/** How many documents are read, indexed and written at a time: bounds memory. */
const documentsAtOnce = 2_000;
/** So many documents are taken apart without a break: bounds how long other requests wait. */
const documentsWithoutBreak = 50;
/** To compare one takes much less. */
const comparedWithoutBreak = 1_000;

/** Brings the resources or the offers of all targets to what was sent. */
export async function applyDocuments(
  tx: Transaction,
  kind: DocumentKind,
  targets: readonly Target[],
  removals: ListRemovals,
): Promise<void> {
  const steps = await planSteps(kind, targets, await readStored(tx, kind, targets));
  let writing: Promise<void> = Promise.resolve();
  for (let start = 0; start < steps.length; start += documentsAtOnce) {
    const write = await prepareSteps(tx, kind, steps.slice(start, start + documentsAtOnce), removals);
    await writing;
    // While the database writes, the next ones are prepared.
    writing = write();
    writing.catch(() => undefined); // it is awaited, and thrown, a step later
  }
  await writing;
}

/** What happens to one document: written, with its text, or removed. */
interface Step {
  target: Target;
  key: number;
  id: string;
  /** Whether something is stored under the key. */
  replaces: boolean;
  written?: { text: string; digest: number; document: Resource | Offer };
}

/** By catalog key and id. */
type Stored = ReadonlyMap<number, ReadonlyMap<string, StoredDocument>>;

async function readStored(tx: Transaction, kind: DocumentKind, targets: readonly Target[]): Promise<Stored> {
  const members = `${kind}s` as const;
  const known = targets.filter(({ before }) => before.known);
  const rows = await readDigests(tx, kind, {
    whole: known.filter(({ incoming }) => incoming.mode === 'FULL').map(({ row }) => row.key),
    some: known
      .filter(({ incoming }) => incoming.mode === 'MERGE')
      .flatMap(({ incoming: { catalog, removals }, row }) =>
        [...(catalog[members] ?? []).map(({ id }) => id), ...(removals?.[members] ?? [])].map((id) => ({
          catalogKey: row.key,
          id,
        })),
      ),
  });
  const stored = new Map<number, Map<string, StoredDocument>>();
  for (const row of rows) {
    const ofCatalog = stored.get(row.catalog_key) ?? new Map<string, StoredDocument>();
    stored.set(row.catalog_key, ofCatalog.set(row.id, row));
  }
  return stored;
}

async function planSteps(kind: DocumentKind, targets: readonly Target[], stored: Stored): Promise<Step[]> {
  const steps: Step[] = [];
  let compared = 0;
  for (const target of targets) {
    const { incoming, row } = target;
    const ofCatalog = stored.get(row.key) ?? new Map<string, StoredDocument>();
    const sent: readonly (Resource | Offer)[] = incoming.catalog[`${kind}s` as const] ?? [];
    const documents = new Map(sent.map((document) => [document.id, document]));
    for (const [id, document] of documents) {
      if (++compared % comparedWithoutBreak === 0) await immediate();
      const text = JSON.stringify(document);
      const digest = hash53(text);
      const current = ofCatalog.get(id);
      if (current?.digest === digest) continue;
      const key = current?.key ?? nextKey(kind, target);
      steps.push({ target, key, id, replaces: current !== undefined, written: { text, digest, document } });
      target.written += 1;
    }
    // Of a MERGE, only what it sends or removes was read.
    const leaving = [...ofCatalog.values()].filter(({ id }) => !documents.has(id));
    for (const { id, key } of leaving) steps.push({ target, key, id, replaces: true });
    target.removed += leaving.length;
  }
  return steps;
}

/** In the order of first arrival, which becomes the order of answers. Where they come to an end, documents move to the lowest ones before (reindex/renumber.ts). */
function nextKey(kind: DocumentKind, { row, before }: Target): number {
  const column = `next_${kind}` as const;
  const number = row[column];
  if (number > lastNumbers[kind]) throw new Error(`catalog ${before.id} has too many ${kind}s`);
  row[column] = number + 1;
  return keyOf(row.key, number);
}

async function prepareSteps(
  tx: Transaction,
  kind: DocumentKind,
  steps: readonly Step[],
  removals: ListRemovals,
): Promise<() => Promise<void>> {
  const replaced = steps.filter(({ replaces }) => replaces).map(({ key }) => key);
  const stored = await readDocuments(tx, kind, replaced);
  const changes = createIndexChanges();
  for (const [index, { target, key, written }] of steps.entries()) {
    if (index % documentsWithoutBreak === documentsWithoutBreak - 1) await immediate();
    const row = stored.get(key);
    const old: Resource | Offer | undefined = row && JSON.parse(row.document);
    const format = target.formatOf(numberOf(key));
    const before = row && old && readEntries(format, kind, row, old);
    changes.add(format, key, before, written && entriesOfDocument(format, kind, written.document));
    if (old) countSchemaTypes(kind, target, old, -1);
    if (written) countSchemaTypes(kind, target, written.document, 1);
  }
  const rows = steps.flatMap((step) => (step.written ? [rowOf(step, step.written)] : []));
  const removed = steps.filter(({ written }) => written === undefined).map(({ key }) => key);
  return async () => {
    const packed = await changes.write(tx, removals);
    const indexed = rows.map((row) => ({ ...row, ...(packed.get(row.key) as PackedEntries) }));
    if (kind === 'offer') await writeOffers(tx, indexed);
    else await writeResources(tx, indexed);
    await removeDocuments(tx, kind, removed);
  };
}

function rowOf(
  { target, key, id }: Step,
  { text, digest, document }: NonNullable<Step['written']>,
): OfferRow {
  const { resourceIds, provider, validity } = document as Offer;
  return {
    ...({ key, id, digest, document: text } satisfies ResourceRow),
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
  const types = kind === 'resource' ? schemaTypesOfResource(document) : schemaTypesOfOffer(document as Offer);
  for (const type of types) {
    const count = (uses[type] ?? 0) + by;
    if (count > 0) uses[type] = count;
    else delete uses[type];
  }
}
