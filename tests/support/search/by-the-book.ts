import fc from 'fast-check';
import { expect } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { silentLogger } from '../../../src/logger.ts';
import type { Catalog } from '../../../src/protocol/catalog.ts';
import type { RankedResource, SpatialConstraint } from '../../../src/protocol/discover-messages.ts';
import { ProtocolError } from '../../../src/protocol/errors.ts';
import type { Geometry } from '../../../src/protocol/geojson.ts';
import { distanceBetween } from '../../../src/rules/geometry/distance.ts';
import {
  createSearch,
  type SearchContext,
  type SearchService,
  type TraceStep,
  writeIndex,
} from '../../../src/search/port.ts';
import { type Database, openDatabase } from '../../../src/storage/database.ts';
import { createThreadPool } from '../../../src/thread-pool.ts';
import { createTestDatabase } from '../database/database.ts';
import { patienceMs } from '../patience.ts';
import { arbitraryIndex, arbitraryNow, arbitraryQuestion } from '../values/arbitrary-index.ts';
import { predicate } from '../values/predicate.ts';
import { compactLists } from './compact-lists.ts';
import { answerByTheBook, findByTheBook, type KnownCatalog, type Question } from './discover-oracle.ts';
import { feedSearch } from './open-search.ts';

/** Compares the index with a plain evaluation of every document, for some generated indexes and questions. Returns how often each step was taken. */
export async function holdAgainstTheBook(runs: {
  indexes: number;
  questions: number;
  seed?: number;
  /** Builds each index by changes, and compacts its lists meanwhile. */
  byChanges?: boolean;
  /** Settings of the processes that answer; each answers every question. By default one process with the usual settings. */
  settings?: readonly Record<string, string>[];
  /** The caches that each process uses, instead of settings. */
  usedCaches?: readonly SearchContext['usedCaches'][];
}): Promise<Map<string, number>> {
  const testDatabase = await createTestDatabase();
  const logger = silentLogger();
  const database = await openDatabase({ url: testDatabase.url, logger, maxConnections: 4 });
  const threads = createThreadPool({ size: 1, logger });
  const processes = runs.usedCaches?.map((usedCaches) => ({ settings: {}, usedCaches }));
  const services = (processes ?? (runs.settings ?? [{}]).map((settings) => ({ settings }))).map(
    (asked: AskedProcess) => ({
      asked,
      service: createSearch({
        ...asked,
        config: readConfig({ DISCOVER_TIMEOUT_MS: `${patienceMs}`, ...asked.settings }),
        database,
        threads,
        now: () => arbitraryNow,
      }),
    }),
  );
  const isFed = ({ asked }: (typeof services)[number]) => asked.settings.SEARCH_INDEX === 'opensearch';
  // Lists without users would be retired.
  const using = await Promise.all(
    services.filter((each) => !isFed(each)).map(({ service }) => service.announce({ logger })),
  );
  const fed = await Promise.all(services.filter(isFed).map(({ service }) => feedSearch(service)));
  const steps = new Map<string, number>();
  const ask = async (index: readonly KnownCatalog[], question: Question) => {
    for (const { service, asked } of services) {
      const taken = await compare(service, index, question).catch((cause) => {
        throw new Error(`with ${JSON.stringify(asked)}`, { cause });
      });
      for (const { step } of taken) steps.set(step, (steps.get(step) ?? 0) + 1);
    }
  };
  try {
    await fc.assert(
      fc.asyncProperty(
        arbitraryIndex,
        fc.array(arbitraryQuestion, { minLength: runs.questions, maxLength: runs.questions }),
        async (index, questions) => {
          await fill({ database }, runs.byChanges ? [] : index);
          if (runs.byChanges) await applyByChanges(database, index);
          for (const each of fed) await each.catchUp();
          for (const question of questions) await ask(index, question);
        },
      ),
      { numRuns: runs.indexes, seed: runs.seed, endOnFailure: true },
    );
    return steps;
  } finally {
    for (const each of [...fed, ...using]) await each.close();
    for (const { service } of services) await service.close();
    await threads.close();
    await database.close();
    await testDatabase.drop();
  }
}

interface AskedProcess {
  settings: Record<string, string>;
  usedCaches?: SearchContext['usedCaches'];
}

export async function fill(
  { database }: Pick<SearchContext, 'database'>,
  index: readonly KnownCatalog[],
): Promise<void> {
  const { rows } = await database.query<{ tables: string }>(
    `select string_agg(schemaname || '.' || tablename, ', ') as tables from pg_tables
     where schemaname in ('discovery', 'index_1') and tablename not in ('feed', 'generation', 'external_index', 'index_process')`,
  );
  // The feeder of OpenSearch may read the same tables: on a deadlock, one of the two is repeated.
  await database.transaction((tx) => tx.query(`truncate ${rows[0]?.tables} restart identity cascade`));
  await apply(database, index);
}

export async function apply(database: Database, catalogs: readonly KnownCatalog[]): Promise<void> {
  const incoming = catalogs.map(({ owner, networkIds, type, catalog }) => ({
    ...{ source: 'service:test', owner, networks: networkIds, type, catalog },
    mode: 'FULL' as const,
  }));
  await database.transaction((tx) => writeIndex(tx, arbitraryNow, ({ apply }) => apply(incoming)));
}

/** Applies catalog by catalog, each first with content of the next one; compacts lists in between and afterwards. */
export async function applyByChanges(database: Database, index: readonly KnownCatalog[]): Promise<void> {
  for (const [position, known] of index.entries()) {
    const { resources, offers, id } = known.catalog;
    const catalog = {
      ...{ ...(index[(position + 1) % index.length] ?? known).catalog, id },
      resources: resources && swapped(resources),
      offers: offers && swapped(offers),
    };
    await apply(database, [{ ...known, catalog }]);
  }
  await compactLists(database);
  await Promise.all([...index.map((known) => apply(database, [known])), compactLists(database)]);
}

/** Each document with the content of the next one, and an additional one, which will go. */
function swapped<T extends { id: string }>(documents: readonly T[]): T[] {
  const [first] = documents;
  return [
    ...documents.map(({ id }, index) => ({ ...(documents[(index + 1) % documents.length] as T), id })),
    ...(first ? [{ ...first, id: 'will go' }] : []),
  ];
}

/** Returns the steps of the search. */
export async function compare(
  service: SearchService,
  index: readonly KnownCatalog[],
  question: Question,
  shown?: (catalogs: Catalog[]) => object[],
): Promise<readonly TraceStep[]> {
  const { intent, limit, offset, networkId, schemaContext } = question;
  const asked = service.search({
    message: { intent, limit, offset },
    scope: { networkId, schemaContext: schemaContext && [...schemaContext] },
  });
  const found = await asked.catch((error: unknown) => {
    if (error instanceof ProtocolError && error.status !== 503) return error;
    throw error;
  });
  if (found instanceof ProtocolError) {
    expect(found.code).toBe('SCH_INVALID_JSONPATH');
    expect(() => findByTheBook(index, question, { measure })).toThrow();
    return [];
  }
  const { answer, trace } = found;
  const expected = answerByTheBook(findByTheBook(index, question, { measure }), question);
  const context = JSON.stringify({ question, index });
  const show = shown ?? ((catalogs: Catalog[]) => catalogs.map(comparable));
  expect(show(JSON.parse(answer.catalogs)), context).toEqual(show(expected.catalogs));
  expect(answer.pagination, context).toEqual(expected.pagination);
  // If only a part of the index is known, ranks differ.
  if (shown === undefined)
    expect(answer.ranking.map(comparableRank), context).toEqual(expected.ranking.map(comparableRank));
  return trace.steps;
}

/** Distances are measured on parsed texts and in threads: equal up to a millimetre. */
function comparableRank({ distanceMeters, ...ranked }: RankedResource): object {
  return {
    ...ranked,
    ...(distanceMeters !== undefined && { millimetres: Math.round(distanceMeters * 1_000) }),
  };
}

/** The order of offers does not matter. */
export function comparable({ offers = [], ...catalog }: Catalog): object {
  return { ...catalog, offers: [...offers].sort((a, b) => (a.id < b.id ? -1 : 1)) };
}

export function measure(
  constraint: SpatialConstraint,
): (stored: Geometry) => { holds: boolean; distance?: number } {
  const { operator, geometry, distanceMeters } = constraint;
  return (stored) => ({
    holds: predicate(operator, stored, geometry, distanceMeters),
    ...(operator === 'S_DWITHIN' && { distance: distanceBetween(stored, geometry) }),
  });
}
