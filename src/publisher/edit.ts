import { dirname } from 'node:path';
import type { IndexEntry } from '../protocol/signed-files.ts';
import type { PublishedCatalog } from './build.ts';
import type { RememberedContent } from './content-memory.ts';
import { type PublishedIndex, readIndexes, writeIndex } from './indexes.ts';
import { type ContentFile, localName } from './paths.ts';
import { findDamagedChanges, listContentFiles, readBaselines, readContent } from './read-content.ts';
import { findExpiredChanges, findNeedlessFiles, findUnlistedFiles } from './retention.ts';
import type { SealedFile } from './seal.ts';
import { type PublisherTree, withTreeLock } from './tree.ts';
import { type Place, placeContent, removeFile, syncFolder } from './write.ts';

// One transaction of a writer, under the lock. Content is written as soon as it is known; the indexes come last, each once, and only
// changed ones. If something throws, all served files stay unchanged.

export type TreeEdit = ReturnType<typeof startEdit>['edit'];

export interface EntryInIndex {
  indexName: string;
  entry: IndexEntry;
}

export async function editTree<T>(tree: PublisherTree, work: (edit: TreeEdit) => Promise<T>): Promise<T> {
  return withTreeLock(tree, async () => {
    const writer = createContentWriter(tree);
    const { edit, writeIndexes } = startEdit(tree, await readIndexes(tree), writer);
    try {
      const result = await work(edit);
      await writer.finish();
      await writeIndexes();
      return result;
    } finally {
      // No write of this turn may continue in the next.
      await writer.settle();
    }
  });
}

function startEdit(tree: PublisherTree, indexes: ReadonlyMap<string, PublishedIndex>, writer: ContentWriter) {
  const entriesByIndex = new Map([...indexes].map(([name, { entries }]) => [name, new Map(entries)]));
  const changed = new Set<string>();
  const latest = new Map<IndexEntry, RememberedContent>();
  let contentFiles: Promise<Map<string, ContentFile[]>> | undefined;

  const entries = (): EntryInIndex[] =>
    [...entriesByIndex].flatMap(([indexName, held]) =>
      [...held.values()].map((entry) => ({ indexName, entry })),
    );
  const find = (catalogId: string): EntryInIndex | undefined => {
    for (const [indexName, held] of entriesByIndex) {
      const entry = held.get(catalogId);
      if (entry) return { indexName, entry };
    }
    return undefined;
  };

  async function filesOf(catalogId: string): Promise<ContentFile[]> {
    contentFiles ??= listContentFiles(tree);
    return (await contentFiles).get(localName(catalogId)) ?? [];
  }

  async function findContent(entry: IndexEntry): Promise<Partial<RememberedContent>> {
    const remembered = latest.get(entry) ?? (await tree.memory.find(tree.root, entry));
    if (remembered) return remembered;
    try {
      const content = await readContent(tree, entry);
      await tree.memory.keep(tree.root, entry, { content });
      return { content };
    } catch (error) {
      tree.logger.error({ err: error, catalogId: entry.catalogId }, 'published files cannot be read back');
      return {};
    }
  }

  async function findExpired(entry: IndexEntry): Promise<PublishedCatalog['expired']> {
    const { baseline, changes, catalogId } = entry;
    if (!changes.some(({ toVersion }) => baseline && toVersion <= baseline.version)) return undefined;
    return findExpiredChanges(entry, await readBaselines(tree, await filesOf(catalogId)), tree.now());
  }

  /** Runs before any write: a dead writer's leftovers must not count as published. It uses the served index; without one, all files stay. */
  async function removeNeedless(indexName: string, catalogId: string): Promise<void> {
    const index = indexes.get(indexName);
    const entry = index?.entries.get(catalogId);
    const files = await filesOf(catalogId);
    const unlisted = findUnlistedFiles(entry, files);
    if (index === undefined || unlisted.length === 0) return;
    const cycle = { now: tree.now(), cycleSeconds: tree.limits.nextUpdateSeconds };
    const baselines = await readBaselines(tree, files);
    for (const { path } of findNeedlessFiles(entry, unlisted, baselines, cycle)) await removeFile(tree, path);
  }

  const edit = {
    entries,
    find,
    async read(entry: IndexEntry): Promise<PublishedCatalog> {
      return { entry, ...(await findContent(entry)), expired: await findExpired(entry) };
    },
    /** The same without content, for changes of the entry; it checks the listed superseded changes instead. */
    async outline(entry: IndexEntry): Promise<PublishedCatalog> {
      const expired = [...((await findExpired(entry)) ?? []), ...(await findDamagedChanges(tree, entry))];
      return { entry, expired: new Set(expired) };
    },
    /** Replaces an entry in an index and writes its files. */
    async put(indexName: string, entry: IndexEntry, news?: RememberedContent & { files: SealedFile[] }) {
      await removeNeedless(indexName, entry.catalogId);
      for (const file of news?.files ?? []) await writer.add(file);
      const held = entriesByIndex.get(indexName) ?? new Map<string, IndexEntry>();
      entriesByIndex.set(indexName, held.set(entry.catalogId, entry));
      if (news) latest.set(entry, { content: news.content, checkedBy: news.checkedBy });
      changed.add(indexName);
    },
    tidy: ({ indexName, entry }: EntryInIndex) => removeNeedless(indexName, entry.catalogId),
    /** Writes every index, even without changed entries. */
    renewIndexes() {
      for (const name of entriesByIndex.keys()) changed.add(name);
    },
  };

  async function writeIndexes(): Promise<void> {
    for (const name of changed) {
      const entries = entriesByIndex.get(name) ?? new Map();
      await writeIndex(tree, { name, entries, signedEntries: indexes.get(name)?.signedEntries ?? new Map() });
    }
    for (const [entry, remembered] of latest) await tree.memory.keep(tree.root, entry, remembered);
  }
  return { edit, writeIndexes };
}

const maxAtOnce = 8;

type ContentWriter = ReturnType<typeof createContentWriter>;

/** Writes several content files at once: many concurrent syncs take hardly longer than one. */
function createContentWriter(place: Place) {
  const writing = new Set<Promise<void>>();
  const folders = new Set<string>();
  const failures: unknown[] = [];

  /** Resolves when all writes have ended, with or without success. */
  async function settle(): Promise<void> {
    await Promise.all(writing);
  }

  return {
    /** Resolves when the write starts, not when it ends. */
    async add(file: SealedFile) {
      while (writing.size >= maxAtOnce) await Promise.race(writing);
      const one: Promise<void> = placeContent(place, file)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => writing.delete(one));
      writing.add(one);
      folders.add(dirname(file.path));
    },
    settle,
    /** Resolves when everything is durable; throws the first failure. */
    async finish() {
      await settle();
      if (failures.length > 0) throw failures[0];
      for (const folder of folders) await syncFolder(place, folder);
    },
  };
}
