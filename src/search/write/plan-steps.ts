import { createBreaks } from '../../breaks.ts';
import type { Offer, Resource } from '../../protocol/catalog.ts';
import type { Transaction } from '../../storage/database.ts';
import { hash53, type Level } from '../entries/attributes.ts';
import { firstNumbers, keyOf, lastNumbers } from '../keys.ts';
import type { Target } from './catalog-rows.ts';
import { type DocumentKind, readDigests, type StoredDocument } from './document-rows.ts';

/** A change of one document: written, with its text, or removed. */
export interface Step {
  kind: Level;
  target: Target;
  key: number;
  id?: string;
  /** Whether a document is stored under the key. */
  replaces: boolean;
  written?: { text: string; digest: number; document: object };
}

/** Words and facts of a catalog and its provider apply to all its resources, so they are indexed once, under the key of the catalog. */
export function planHeads(targets: readonly Target[]): Step[] {
  return targets
    .filter(({ before, row }) => !before.known || before.head_digest !== row.head_digest)
    .map((target) => {
      const { before, row } = target;
      const written = { text: '', digest: row.head_digest, document: row.head };
      return { kind: 'catalog', target, key: keyOf(row.key, 0), replaces: before.known, written };
    });
}

/** Finds the new, changed and removed resources, or offers, of the targets. Unchanged ones have no step. */
export async function planSteps(tx: Transaction, kind: DocumentKind, targets: readonly Target[]) {
  const stored = await readStored(tx, kind, targets);
  const steps: Step[] = [];
  const takeBreak = createBreaks();
  for (const target of targets) {
    const { incoming, row } = target;
    const ofCatalog = stored.get(row.key) ?? new Map<string, StoredDocument>();
    const sent: readonly (Resource | Offer)[] = incoming.catalog[`${kind}s` as const] ?? [];
    const documents = new Map(sent.map((document) => [document.id, document]));
    const fresh = [...documents.keys()].filter((id) => !ofCatalog.has(id));
    const keys = await takeKeys(tx, kind, target, fresh.length);
    for (const [id, document] of documents) {
      await takeBreak();
      const text = JSON.stringify(document);
      const digest = hash53(text);
      const current = ofCatalog.get(id);
      if (current?.digest === digest) continue;
      const key = current?.key ?? keys.next().value ?? 0;
      const written = { text, digest, document };
      steps.push({ kind, target, key, id, replaces: current !== undefined, written });
      target.written += 1;
    }
    // For a MERGE, only the documents that it sends or removes were read.
    const later = kind === 'resource' ? incoming.later : undefined;
    const leaving = [...ofCatalog.values()].filter(({ id }) => !documents.has(id) && !later?.has(id));
    for (const { id, key } of leaving) steps.push({ kind, target, key, id, replaces: true });
    target.removed += leaving.length;
  }
  return steps;
}

/** The stored documents of the targets, by catalog key and id. */
async function readStored(tx: Transaction, kind: DocumentKind, targets: readonly Target[]) {
  const members = `${kind}s` as const;
  const known = targets.filter(({ before }) => before.known);
  const idsOf = ({ incoming: { catalog, removals } }: Target) => [
    ...(catalog[members] ?? []).map(({ id }) => id),
    ...(removals?.[members] ?? []),
  ];
  const rows = await readDigests(tx, kind, {
    whole: known.filter(({ incoming }) => incoming.mode === 'FULL').map(({ row }) => row.key),
    some: known
      .filter(({ incoming }) => incoming.mode === 'MERGE')
      .flatMap((target) => idsOf(target).map((id) => ({ catalogKey: target.row.key, id }))),
  });
  const stored = new Map(known.map(({ row }) => [row.key, new Map<string, StoredDocument>()]));
  for (const row of rows) stored.get(row.catalog_key)?.set(row.id, row);
  return stored;
}

/** Keys of new documents, in order of arrival, as in answers. When used up, the lowest free ones, even with pending removals (lists/remove.ts). */
async function takeKeys(tx: Transaction, kind: DocumentKind, { row, before }: Target, count: number) {
  const column = `next_${kind}` as const;
  const first = keyOf(row.key, row[column]);
  row[column] = Math.min(row[column] + count, lastNumbers[kind] + 1);
  if (first + count <= keyOf(row.key, lastNumbers[kind] + 1) || count === 0)
    return Array.from({ length: count }, (_, index) => first + index).values();
  // Of the first n numbers, with n = stored documents + `count`, at least `count` are free.
  const free = await tx.column<number>(
    `select free.key from generate_series($1::bigint, least($2::bigint,
       $1 + $3 + (select count(*) from discovery.${kind} as held where held.key between $1 and $2))) as free (key)
     where not exists (select from discovery.${kind} as held where held.key = free.key) order by free.key limit $3`,
    [keyOf(row.key, firstNumbers[kind]), keyOf(row.key, lastNumbers[kind]), count],
  );
  if (free.length < count) throw new Error(`catalog ${before.id} has too many ${kind}s`);
  return free.values();
}
