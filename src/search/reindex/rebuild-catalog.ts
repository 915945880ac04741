import { setImmediate as immediate } from 'node:timers/promises';
import { bigintArray, bytesArray } from '../../storage/binary-arrays.ts';
import type { Transaction } from '../../storage/database.ts';
import type { IndexedVersions } from '../documents/catalogs.ts';
import { type DocumentKind, type IndexedDocument, indexedColumns } from '../documents/documents.ts';
import { firstNumbers, keyOf, lastNumbers, numberOf } from '../documents/keys.ts';
import { formatOf, type IndexFormat, type IndexFormats } from '../format/index-format.ts';
import { createListRemovals, type ListRemovals } from '../lists/remove.ts';
import type { ListEntries } from '../lists/runs.ts';
import { type DocumentEntries, entriesOfDocument } from '../write/document-entries.ts';
import { createIndexChanges, listEntries, type PackedEntries } from '../write/index-changes.ts';
import { type EntriesBefore, readEntries, readHeadEntries } from '../write/stored-entries.ts';
import { formatsOf, type Target } from '../write/target.ts';

// A catalog is rebuilt from its documents: what their entries of the version before have and the new ones have not leaves the posting lists, and the other way round. A large one
// takes several transactions. Its documents come in the order of their numbers, and the row tells how far that went, so that whoever searches or writes
// knows the version of each.

interface RebuiltPart {
  documents: number;
  /** Whether all of the catalog has the version. */
  isDone: boolean;
}

/** After so many documents others get their turn. */
const documentsWithoutBreak = 50;

interface RebuildOptions {
  version: number;
  formats: IndexFormats;
  maxDocuments: number;
  /** For a writer that has locked the catalog; otherwise the catalog is passed over. */
  waits?: boolean;
}

/** Brings the next documents of a catalog to a version. Undefined: it has it, has gone, or is passed over. */
export async function rebuildPart(
  tx: Transaction,
  removals: ListRemovals,
  catalogKey: number,
  { version, formats, maxDocuments, waits = false }: RebuildOptions,
): Promise<RebuiltPart | undefined> {
  const row = await lockCatalog(tx, catalogKey, waits ? '' : 'skip locked');
  if (row === undefined || (row.index_version === version && row.reindexed_below === 0)) return undefined;
  // One that was begun for another version is brought to that first: a catalog has two at most.
  const target = formatOf(formats, row.reindexed_below > 0 ? row.reindexed_version : version);
  const documents = await readFrom(tx, catalogKey, row.reindexed_below, maxDocuments);
  const isDone = documents.length < maxDocuments;
  const changes = createIndexChanges({ checksBoxes: true });
  const formatsBefore = formatsOf(row, formats);
  for await (const { key, before, after } of indexAnew(row, documents, isDone, formatsBefore, () => target))
    changes.add(target, key, before, after);
  const packed = await changes.write(tx, removals);
  await storeEntries(tx, documents, packed);
  const below = numberOf(documents.at(-1)?.key ?? 0) + 1;
  await storeVersion(tx, {
    ...{ key: row.key, words: packed.get(keyOf(row.key, 0))?.words ?? row.words },
    index_version: isDone ? target.version : row.index_version,
    reindexed_below: isDone ? 0 : below,
    reindexed_version: target.version,
  });
  return { documents: documents.length, isDone: isDone && target.version === version };
}

/**
 * Makes the entries of the next documents of a catalog anew, in the version that they have. Undefined: the catalog has gone. Otherwise from which number on to
 * continue; none: all is done.
 */
export async function renewPart(
  tx: Transaction,
  catalogKey: number,
  { from, formats, maxDocuments }: { from: number; formats: IndexFormats; maxDocuments: number },
): Promise<{ documents: number; rest?: number } | undefined> {
  const row = await lockCatalog(tx, catalogKey);
  if (row === undefined) return undefined;
  const documents = await readFrom(tx, catalogKey, from, maxDocuments);
  const isDone = documents.length < maxDocuments;
  await renewDocuments(tx, row, { documents, formats, withHead: isDone });
  const last = documents.at(-1);
  return { documents: documents.length, ...(!isDone && last && { rest: numberOf(last.key) + 1 }) };
}

/** Takes what posting lists have of documents out, whatever is stored, and what else is named; then puts in what they shall have. */
export async function renewDocuments(
  tx: Transaction,
  row: LockedCatalog,
  { documents, formats, withHead, surplus = [], copies = 1 }: Renewal,
): Promise<void> {
  const removals = createListRemovals();
  const formatAt = formatsOf(row, formats);
  const [leaving, coming] = [createIndexChanges(), createIndexChanges()];
  for await (const { format, key, before, after } of indexAnew(
    row,
    documents,
    withHead,
    formatAt,
    formatAt,
  )) {
    leaving.add(format, key, before, undefined);
    leaving.add(format, key, listEntries(after), undefined);
    coming.add(format, key, undefined, after);
  }
  for (let copy = 0; copy < copies; copy++) {
    await leaving.write(tx, removals);
    await removals.add(tx, surplus);
    await removals.write(tx);
  }
  const packed = await coming.write(tx, removals);
  await storeEntries(tx, documents, packed);
  await storeVersion(tx, { ...row, words: packed.get(keyOf(row.key, 0))?.words ?? row.words });
}

interface Renewal {
  documents: readonly KindOfDocument[];
  formats: IndexFormats;
  /** The catalog-level members, too. */
  withHead: boolean;
  /** What leaves posting lists besides. */
  surplus?: readonly ListEntries[];
  /** How often an entry may stand in a list. */
  copies?: number;
}

interface LockedCatalog extends IndexedVersions {
  key: number;
  owner: string;
  provider_id: string;
  head: string;
  words: Buffer;
  /** Otherwise a writer has made the row, and not filled it yet. */
  isKnown: boolean;
}

export async function lockCatalog(
  tx: Transaction,
  key: number,
  how = '',
): Promise<LockedCatalog | undefined> {
  const { rows } = await tx.query<LockedCatalog>(
    `select key, owner, provider_id, head::text as head, words, index_version, reindexed_below, reindexed_version, provider_id <> '' as "isKnown"
     from discovery.catalog where key = $1 for update ${how}`,
    [key],
  );
  return rows[0];
}

export type KindOfDocument = IndexedDocument & { kind: DocumentKind };

/** The next documents of a catalog from a number on: resources, then offers. */
async function readFrom(
  tx: Transaction,
  catalogKey: number,
  from: number,
  limit: number,
): Promise<KindOfDocument[]> {
  const found: KindOfDocument[] = [];
  for (const kind of ['resource', 'offer'] as const) {
    const { rows } = await tx.query<IndexedDocument>(
      `select ${indexedColumns(kind)} from discovery.${kind} where key between $1 and $2 order by key limit $3`,
      [
        keyOf(catalogKey, Math.max(from, firstNumbers[kind])),
        keyOf(catalogKey, lastNumbers[kind]),
        limit - found.length,
      ],
    );
    for (const row of rows) found.push({ ...row, kind });
  }
  return found;
}

/** The entries that documents have and those that they shall have, with the format of these; at the end those of the catalog-level members, if wanted. */
async function* indexAnew(
  row: LockedCatalog,
  documents: readonly KindOfDocument[],
  withHead: boolean,
  formatBefore: Target['formatOf'],
  formatAfter: Target['formatOf'],
): AsyncGenerator<{ key: number; format: IndexFormat; before: EntriesBefore; after: DocumentEntries }> {
  for (const [index, document] of documents.entries()) {
    if (index % documentsWithoutBreak === documentsWithoutBreak - 1) await immediate();
    const { key, kind } = document;
    const parsed = JSON.parse(document.document);
    const before = readEntries(formatBefore(numberOf(key)), kind, document, parsed);
    const format = formatAfter(numberOf(key));
    yield { key, format, before, after: entriesOfDocument(format, kind, parsed) };
  }
  if (!withHead || !row.isKnown) return;
  const [key, format] = [keyOf(row.key, 0), formatAfter()];
  const after = entriesOfDocument(format, 'catalog', JSON.parse(row.head));
  yield { key, format, before: readHeadEntries(row.words), after };
}

/** Beside the documents. */
async function storeEntries(
  tx: Transaction,
  documents: readonly KindOfDocument[],
  packed: ReadonlyMap<number, PackedEntries>,
): Promise<void> {
  for (const kind of ['resource', 'offer'] as const) {
    const keys = documents.filter((each) => each.kind === kind).map(({ key }) => key);
    if (keys.length === 0) continue;
    const standing = kind === 'offer' ? ', is_standing = stored.is_standing' : '';
    await tx.query(
      `update discovery.${kind} as document set words = stored.words${standing}
       from unnest($1::bigint[], $2::bytea[], $3::boolean[]) as stored (key, words, is_standing)
       where document.key = stored.key`,
      [
        bigintArray(keys),
        bytesArray(keys.map((key) => packed.get(key)?.words ?? null)),
        keys.map((key) => packed.get(key)?.isStanding ?? false),
      ],
    );
  }
}

async function storeVersion(
  tx: Transaction,
  row: IndexedVersions & { key: number; words: Buffer },
): Promise<void> {
  await tx.query(
    `update discovery.catalog set words = $2, index_version = $3, reindexed_below = $4, reindexed_version = $5 where key = $1`,
    [row.key, row.words, row.index_version, row.reindexed_below, row.reindexed_version],
  );
}
