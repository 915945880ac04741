import { createBreaks } from '../../breaks.ts';
import type { Offer, Resource } from '../../protocol/catalog.ts';
import type { Transaction } from '../../storage/database.ts';
import { hash53 } from '../entries/attributes.ts';
import { keyOf, lastNumbers } from '../keys.ts';
import { type DocumentKind, readDigests, type StoredDocument } from './document-rows.ts';
import type { Target } from './target.ts';

/** What happens to one document: written, with its text, or removed. */
export interface DocumentStep {
  kind: DocumentKind;
  target: Target;
  key: number;
  id: string;
  /** Whether something is stored under the key. */
  replaces: boolean;
  written?: WrittenDocument;
}

export interface WrittenDocument {
  text: string;
  digest: number;
  document: Resource | Offer;
}

/** Tells which resources, or offers, of the targets are new, changed or to go. Those that are equal to the stored ones have no step. */
export async function planSteps(
  tx: Transaction,
  kind: DocumentKind,
  targets: readonly Target[],
): Promise<DocumentStep[]> {
  const stored = await readStored(tx, kind, targets);
  const steps: DocumentStep[] = [];
  const takeBreak = createBreaks();
  for (const target of targets) {
    const { incoming, row } = target;
    const ofCatalog = stored.get(row.key) ?? new Map<string, StoredDocument>();
    const sent: readonly (Resource | Offer)[] = incoming.catalog[`${kind}s` as const] ?? [];
    const documents = new Map(sent.map((document) => [document.id, document]));
    for (const [id, document] of documents) {
      await takeBreak();
      const text = JSON.stringify(document);
      const digest = hash53(text);
      const current = ofCatalog.get(id);
      if (current?.digest === digest) continue;
      const key = current?.key ?? nextKey(kind, target);
      const written = { text, digest, document };
      steps.push({ kind, target, key, id, replaces: current !== undefined, written });
      target.written += 1;
    }
    // Of a MERGE, only what it sends or removes was read.
    const later = kind === 'resource' ? incoming.later : undefined;
    const leaving = [...ofCatalog.values()].filter(({ id }) => !documents.has(id) && !later?.has(id));
    for (const { id, key } of leaving) steps.push({ kind, target, key, id, replaces: true });
    target.removed += leaving.length;
  }
  return steps;
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

/** In the order of first arrival, which becomes the order of answers. Where they come to an end, documents move to the lowest ones before (renumber.ts). */
function nextKey(kind: DocumentKind, { row, before }: Target): number {
  const column = `next_${kind}` as const;
  const number = row[column];
  if (number > lastNumbers[kind]) throw new Error(`catalog ${before.id} has too many ${kind}s`);
  row[column] = number + 1;
  return keyOf(row.key, number);
}
