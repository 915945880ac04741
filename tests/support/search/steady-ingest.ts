import fc from 'fast-check';
import { readConfig } from '../../../src/config.ts';
import { silentLogger } from '../../../src/logger.ts';
import type { Catalog } from '../../../src/protocol/catalog.ts';
import { createSearch } from '../../../src/search/port.ts';
import { type Database, openDatabase } from '../../../src/storage/database.ts';
import type { Replicas } from '../../../src/storage/replicas.ts';
import { createThreadPool } from '../../../src/thread-pool.ts';
import { createTestDatabase, type TestDatabase } from '../database/database.ts';
import { patienceMs } from '../patience.ts';
import {
  arbitraryIndex,
  arbitraryNow,
  arbitraryQuestion,
  arbitraryWords,
} from '../values/arbitrary-index.ts';
import { apply, comparable, compare } from './by-the-book.ts';
import type { KnownCatalog, Question } from './discover-oracle.ts';

// Several writers change their catalogs without a pause, and all of these share the same posting lists. Each writer has a separate network: after
// each of its commits it asks two processes there, while the others continue, and compares their answers with a plain evaluation of its own catalogs.

export interface SteadyIngest {
  writers: number;
  /** Commits of each writer. */
  commits: number;
  /** Per commit and process. */
  questions: number;
  seed: number;
  /** By default a new database; tests pass one with replicas. */
  home?: TestDatabase;
  openReplicas?(database: Database): Promise<Replicas>;
}

export async function searchWhileWriting(ingest: SteadyIngest): Promise<void> {
  const { writers, commits, questions, seed } = ingest;
  const home = ingest.home ?? (await createTestDatabase());
  const logger = silentLogger();
  const threads = createThreadPool({ size: 1, logger });
  // Each database gets a search service with separate caches: the two act as two processes.
  const databases = await Promise.all(
    [1, 2].map(() => openDatabase({ url: home.url, logger, maxConnections: writers })),
  );
  const config = readConfig({ DISCOVER_TIMEOUT_MS: `${patienceMs}` });
  const replicas = await Promise.all(databases.map((database) => ingest.openReplicas?.(database)));
  const processes = databases.map((database, index) =>
    createSearch({ config, database, replicas: replicas[index], threads, now: () => arbitraryNow }),
  );
  const write = async (writer: number) => {
    const drawn = fc.sample(arbitraryQuestion, { seed: seed + writer, numRuns: commits * questions });
    let held: readonly KnownCatalog[] = [];
    for (const changed of drawChanges(writer, commits, seed)) {
      const database = databases[writer % databases.length] as Database;
      held = change(held, changed);
      await apply(
        database,
        held.filter(({ catalog }) => catalog.id === changed.catalog.id),
      );
      const index = [everyWord, ...held];
      for (const question of drawn.splice(0, questions).map((each) => inNetworkOf(writer, each)))
        await Promise.all(
          processes.map((process) => compare(process, index, question, withoutRanks(question))),
        );
    }
  };
  try {
    await apply(databases[0] as Database, [everyWord]);
    await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  } finally {
    await threads.close();
    for (const each of replicas) await each?.close();
    for (const database of databases) await database.close();
    await home.drop();
  }
}

/** The known words decide what a typing error may mean: one template has all of them, so this never changes. */
const everyWord: KnownCatalog = {
  ...{ owner: 'words.example/reg', networkIds: [], type: 'MASTER' },
  catalog: {
    ...{ id: 'words', descriptor: { name: arbitraryWords.join(' ') } },
    provider: { id: 'words', descriptor: { name: arbitraryWords.join(' ') } },
  },
};

const catalogsOfWriter = 3;

function networkOf(writer: number): string {
  return `net/${writer}`;
}

/** Word frequencies in other writers' catalogs decide the order of text results, and so their pages: text questions get no paging. */
function inNetworkOf(writer: number, { limit, offset, ...question }: Question): Question {
  const paging = question.intent.textSearch === undefined && { limit, offset };
  return { ...question, ...paging, networkId: networkOf(writer) };
}

function withoutRanks({ intent }: Question) {
  if (intent.textSearch === undefined) return undefined;
  const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1);
  return (catalogs: Catalog[]) =>
    [...catalogs]
      .sort(byId)
      .map((catalog) => comparable({ ...catalog, resources: [...(catalog.resources ?? [])].sort(byId) }));
}

/** The catalogs in turns, one after another. */
function drawChanges(writer: number, commits: number, seed: number): KnownCatalog[] {
  return fc
    .sample(arbitraryIndex, { seed: seed * 1_000 + writer, numRuns: commits })
    .flatMap(([first]) => first ?? [])
    .map((known, index) => ({
      ...known,
      owner: `writer-${writer}.example/reg`,
      networkIds: [networkOf(writer)],
      catalog: { ...known.catalog, id: `w${writer}-${index % catalogsOfWriter}` },
    }));
}

/** The catalogs as the index then has them: existing resources keep their positions, new ones come last. */
function change(held: readonly KnownCatalog[], { catalog, ...changed }: KnownCatalog): KnownCatalog[] {
  const before = held.find((known) => known.catalog.id === catalog.id)?.catalog;
  const { resources, offers } = catalog;
  const after: Catalog = {
    ...catalog,
    ...(resources && { resources: inOrderOfArrival(before?.resources, resources) }),
    ...(offers && { offers: inOrderOfArrival(before?.offers, offers) }),
  };
  const known = { ...changed, catalog: after };
  return before ? held.map((each) => (each.catalog.id === catalog.id ? known : each)) : [...held, known];
}

function inOrderOfArrival<T extends { id: string }>(before: readonly T[] = [], after: readonly T[]): T[] {
  const arrived = before.map(({ id }) => id);
  const positionOf = ({ id }: T) => (arrived.includes(id) ? arrived.indexOf(id) : arrived.length);
  return [...after].sort((one, other) => positionOf(one) - positionOf(other));
}
