import type { FastifyInstance } from 'fastify';
import { readTroubles } from '../../delivery/troubles.ts';
import { Type } from '../../protocol/type.ts';
import { duplicatesHint, spellDuplicates } from '../../rules/duplicates.ts';
import { readDuplicates } from '../../storage/console/duplicates.ts';
import { listEmptySearches } from '../../storage/console/empty-searches.ts';
import { listProcesses, readMinutes } from '../../storage/console/minutes.ts';
import { readOverview } from '../../storage/console/overview.ts';
import { Duplicate, EmptySearch, Health, Series, seriesNames, Trouble } from '../answers/health.ts';
import type { ConsoleContext } from '../context.ts';
import { addList, CursorTime, listOf, nextCursor, withoutNulls } from '../list.ts';
import { addRoute } from '../route.ts';
import { buildSeries } from './series.ts';
import { findReasons, goals } from './verdict.ts';

export function addHealthRoutes(server: FastifyInstance, { config, search, database, now }: ConsoleContext) {
  const minutesAgo = (minutes: number) => new Date(now().getTime() - minutes * 60_000);

  addRoute(server, 'GET /api/health', {
    summary: 'Show whether all is well, why not, and which processes run.',
    tag,
    answer: Health,
    async handle() {
      const [troubles, { deliveries }, numbers, lagMs = Number.POSITIVE_INFINITY, processes] =
        await Promise.all([
          readTroubles(database, now()),
          readOverview(database),
          readMinutes(database, minutesAgo(judgedMinutes)),
          search.lag(),
          listProcesses(database, minutesAgo(aliveMinutes)),
        ]);
      const late = lagMs > config.DISCOVER_MAX_LAG_MS ? Math.ceil(lagMs / 1_000) : 0;
      const reasons = findReasons(troubles, deliveries.parked, buildSeries(numbers, now()), late);
      return {
        healthy: reasons.length === 0,
        reasons,
        processes: processes.map((one) => ({ ...one, roles: [...one.roles] })),
      };
    },
  });

  addRoute(server, 'GET /api/health/troubles', {
    summary: 'List failures that last, each with what to do next.',
    description:
      'A key of a running role that the registry does not have; a subscription that a catalog service refuses; a feed that is out of sync. The same list is in the body of `/ready`, in `signpost status` and in `signpost check`.',
    tag,
    answer: listOf('Troubles', Trouble),
    handle: async () => ({ items: await readTroubles(database, now()) }),
  });

  const duplicates = keepFresh(() => listDuplicates(database), now);
  addRoute(server, 'GET /api/health/duplicates', {
    summary: 'List pairs of nodes that publish the same chargers.',
    description:
      'They publish the same EVSE id, or the same operator within 30 m. Searches find both, because signed data is never merged. At most 100 pairs by EVSE ids. Chargers are compared by place if several nodes name the same operator: up to 1,000 of a catalog, and 50,000 in all.',
    tag,
    answer: listOf('Duplicates', Duplicate),
    handle: async () => ({ items: await duplicates() }),
  });

  addRoute(server, 'GET /api/health/series', {
    summary: 'Show the measurements of all processes, minute by minute.',
    description:
      'Rates, errors and searches without a result count per minute. Numbers are added up over all processes; for the delay of the event loop, the highest is used. Kept for HEALTH_DAYS (7).',
    tag,
    query: Type.Object({
      hours: Type.Optional(Type.Integer({ minimum: 1, maximum: 168, default: defaultHours })),
    }),
    answer: Series,
    async handle({ query: { hours = defaultHours } }) {
      const numbers = await readMinutes(database, minutesAgo(hours * 60));
      return { names: [...seriesNames], goals, rows: buildSeries(numbers, now()) };
    },
  });

  addList(server, '/api/health/empty-searches', {
    summary: 'List searches that found nothing, the latest first.',
    description:
      'The same search again adds to `times`. The latest 1,000 are kept, for EMPTY_SEARCH_DAYS (7).',
    tag,
    cursor: Type.Object({ at: CursorTime, key: Type.String({ pattern: '^[0-9a-f]{64}$' }) }),
    answer: listOf('EmptySearches', EmptySearch),
    async read({ limit, after }) {
      const found = await listEmptySearches(database, {
        limit,
        ...(after && { before: { at: new Date(after.at), key: after.key } }),
      });
      const items = found.map(({ key: _, intent, nearMisses, ...rest }) => ({
        ...withoutNulls(rest),
        intent: JSON.parse(intent),
        nearMisses: JSON.parse(nearMisses),
      }));
      return { items, next: nextCursor(found, limit, ({ at, key }) => ({ at: at.getTime(), key })) };
    },
  });
}

/** Only the first call waits. Later calls return the previous list during a refresh; after a failure, the next request retries. */
function keepFresh(read: () => Promise<Duplicate[]>, now: () => Date): () => Promise<Duplicate[]> {
  let known: { readAt: number; items: Duplicate[] } | undefined;
  let reading: Promise<Duplicate[]> | undefined;
  const readAgain = async () => {
    const items = await read().finally(() => (reading = undefined));
    known = { readAt: now().getTime(), items };
    return items;
  };
  return async () => {
    if (known && now().getTime() - known.readAt <= duplicatesMs) return known.items;
    reading ??= readAgain();
    if (!known) return reading;
    reading.catch(() => {});
    return known.items;
  };
}

async function listDuplicates(database: ConsoleContext['database']): Promise<Duplicate[]> {
  const found = await readDuplicates(database);
  return found.map((one) => ({ nodes: one.nodes, what: spellDuplicates(one), next: duplicatesHint }));
}

/** A list of duplicates reads an index with all EVSE ids. */
const duplicatesMs = 60_000;
/** Minutes after which a missed goal counts. */
const judgedMinutes = 5;
/** A process writes every 15 s, into the current minute. */
const aliveMinutes = 2;
const defaultHours = 24;
const tag = 'Health';
