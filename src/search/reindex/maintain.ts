import { setTimeout as delay } from 'node:timers/promises';
import type { Database, Queryable } from '../../storage/database.ts';
import { catalogKeyOf, kindOf, numberOf } from '../documents/keys.ts';
import { formatOf, type IndexFormats, indexFormats } from '../format/index-format.ts';
import { createListRemovals } from '../lists/remove.ts';
import {
  abroadList,
  everyResource,
  isOfNumbers,
  siblingList,
  standingList,
  wideList,
} from '../lists/runs.ts';
import { type Checked, type CheckOptions, checkIndex } from './check.ts';
import type { Difference } from './compare-lists.ts';
import { advanceVersion } from './index-state.ts';
import { rebuildPart, renewPart } from './rebuild-catalog.ts';

/** What the operator of an index can do about it by hand. */
interface IndexMaintenance {
  /** Makes the entries of all catalogs anew, the newest first, or of those with one id. Searches and writes go on meanwhile. */
  rebuild(options: RebuildOptions): Promise<Rebuilt>;
  /** Holds the index against the documents. */
  check(options: CheckOptions): Promise<Checked>;
}

interface RebuildOptions {
  catalogId?: string;
  /** As long as a search may take that began before. */
  graceMs: number;
  onProgress?(rebuilt: Rebuilt): void;
}

interface Rebuilt {
  version: number;
  catalogs: number;
  documents: number;
}

export function maintainIndex(database: Database, formats: IndexFormats = indexFormats): IndexMaintenance {
  return {
    rebuild: (options) => rebuildByHand(database, formats, options),
    check: (options) => checkIndex(database, formats, options),
  };
}

/** Documents of one transaction. */
const documentsAtOnce = 2_000;
const catalogsAtOnce = 1_000;

async function rebuildByHand(
  database: Database,
  formats: IndexFormats,
  { catalogId, graceMs, onProgress }: RebuildOptions,
): Promise<Rebuilt> {
  for (let version = await reachVersion(database, formats, graceMs); ; ) {
    const done: Rebuilt = { version, catalogs: 0, documents: 0 };
    for await (const key of catalogKeys(database, catalogId)) {
      const documents = await rebuildCatalog(database, formats, key, version);
      if (documents === undefined) continue;
      done.catalogs += 1;
      done.documents += documents;
      onProgress?.(done);
    }
    // An index of several versions is brought to one of them first.
    const reached = await reachVersion(database, formats, graceMs);
    if (reached === version) return done;
    version = reached;
  }
}

/** The newest version that the index can be brought to now. Waits as long as searches may take that do not know of it. */
async function reachVersion(database: Database, formats: IndexFormats, graceMs: number): Promise<number> {
  for (;;) {
    const { version, next } = await advanceVersion(database, formats, { graceMs });
    if (version === next) return formatOf(formats, version).version;
    await delay(Math.min(graceMs, lookEveryMs));
  }
}

const lookEveryMs = 500;

/** The newest first. */
async function* catalogKeys(queryable: Queryable, id?: string): AsyncGenerator<number> {
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const { rows } = await queryable.query<{ key: number }>(
      `select key from discovery.catalog where key < $1 and ($2::text is null or id = $2) order by key desc limit $3`,
      [before, id ?? null, catalogsAtOnce],
    );
    for (const { key } of rows) yield key;
    const last = rows.at(-1);
    if (last === undefined || rows.length < catalogsAtOnce) return;
    before = last.key;
  }
}

/** First to the version, then anew: what is stored beside the documents may be wrong. */
async function rebuildCatalog(
  database: Database,
  formats: IndexFormats,
  key: number,
  version: number,
): Promise<number | undefined> {
  const maxDocuments = documentsAtOnce;
  for (let isDone = false; !isDone; ) {
    isDone = await database.transaction(async (tx) => {
      const removals = createListRemovals();
      const part = await rebuildPart(tx, removals, key, { version, formats, maxDocuments, waits: true });
      await removals.write(tx);
      return part?.isDone ?? true;
    });
  }
  let documents = 0;
  for (let from: number | undefined = 1; from !== undefined; ) {
    const start: number = from;
    const part = await database.transaction((tx) =>
      renewPart(tx, key, { from: start, formats, maxDocuments }),
    );
    if (part === undefined) return undefined;
    documents += part.documents;
    from = part.rest;
  }
  return documents;
}

/** A difference on one line: what is missing or surplus, in which posting list, and whose it is. */
export function describeDifference(difference: Difference): string {
  const { key } = difference;
  const whose = `key ${key} (${kindOf(key)} ${numberOf(key)} of catalog ${catalogKeyOf(key)})`;
  switch (difference.what) {
    case 'list':
      return `${difference.kind}: list ${difference.list} (${describeList(difference.list)}), ${whose}, beside it ${difference.mark}`;
    case 'stored':
      return `other entries are stored than the document has: ${whose}`;
    case 'geometry':
      return `${difference.kind === 'surplus' ? 'surplus: geometries without a document' : 'other geometries than the document has'}: ${whose}`;
    default:
      return `${difference.kind}: ${difference.what} ${JSON.stringify(difference.name)}, ${whose}`;
  }
}

function describeList(list: number): string {
  if (list === everyResource) return 'every resource';
  if (list >= 0) return 'a fact';
  if (isOfNumbers(list)) return 'numbers';
  if (list === siblingList) return 'catalogs with siblings';
  if (list === abroadList) return 'catalogs with offers on resources of others';
  if (list === wideList) return 'catalogs with wide offers that are not standing';
  if (list < standingList(0)) return `word ${standingList(0) - list} in standing offers`;
  return list % 2 === 0 ? `word ${-list / 2}` : `word ${(-list - 1) / 2} in offers`;
}
