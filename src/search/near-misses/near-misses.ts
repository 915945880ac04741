import { ProtocolError } from '../../protocol/errors.ts';
import { findGeometryFault, type Geometry } from '../../protocol/geojson.ts';
import type { Json } from '../../protocol/json.ts';
import { DeadlineExceeded } from '../../thread-pool.ts';
import type { IndexReader } from '../cache/caches.ts';
import { createDeadline, type Deadline } from '../deadline.ts';
import { findSearched } from '../documents/sample-catalogs.ts';
import type { Scope } from '../documents/scope.ts';
import { type Plan, planQuestion, type Question } from '../plan.ts';
import { evaluateIntent, openReader, type SearchEngine } from '../search.ts';
import type { SpatialPlan } from '../spatial/constraint.ts';
import type { Trace } from '../trace.ts';
import { findUnknownPaths, findUnknownTargets, type NearMiss, shorten } from './unknown-paths.ts';

// Near misses: sentences for the consumer about what almost matched. They name only data that the request itself could find, and get little time.

/** A semaphore: the maximum of searches that look for near misses at once. Others skip this, because searches with results come first. */
const maxAtOnce = 2;
let underWay = 0;
/** Share of a search's time. */
const timeShare = 1 / 5;

export interface Missed extends Question {
  /** Deadline of the search that found nothing. */
  deadline: Deadline;
  trace: Trace;
  /** The identity that asked. */
  owner?: string;
}

export async function findNearMisses(engine: SearchEngine, missed: Missed): Promise<NearMiss[]> {
  const found: NearMiss[] = [];
  if (underWay >= maxAtOnce) return found;
  underWay += 1;
  const mostMs = engine.config.DISCOVER_TIMEOUT_MS * timeShare;
  const deadline = createDeadline(Math.min(mostMs, missed.deadline.remainingMs()));
  try {
    for await (const miss of streamNearMisses(engine, { ...missed, deadline })) {
      missed.trace.note('near miss', { ...miss });
      found.push(miss);
    }
  } catch (error) {
    if (!(error instanceof DeadlineExceeded || error instanceof ProtocolError)) throw error;
    missed.trace.note('near miss', { says: 'There was no time to search further.' });
  } finally {
    underWay -= 1;
  }
  return found;
}

async function* streamNearMisses(engine: SearchEngine, missed: Missed): AsyncGenerator<NearMiss> {
  const { message, scope, deadline } = missed;
  const { reader, format } = await openReader(engine, deadline);
  const plan = planQuestion(engine, { message, scope }, format);
  const empty = await findEmptyScope(reader, plan.scope);
  if (empty) return yield empty;

  const wrong = findWrongRoots(plan);
  yield* wrong;
  // One sentence per culprit is enough.
  const isNew = ({ path }: NearMiss) => !wrong.some((each) => each.path === path);
  let mayBeSwapped = wrong.length === 0;
  for await (const miss of findUnknownTargets(engine, { reader, deadline }, plan)) {
    mayBeSwapped = false;
    if (isNew(miss)) yield miss;
  }
  for await (const miss of findUnknownPaths(reader, plan)) if (isNew(miss)) yield miss;
  if (mayBeSwapped) yield* await findSwapped(engine, missed, plan);
}

async function findEmptyScope(reader: IndexReader, scope: Scope): Promise<NearMiss | undefined> {
  const isEmpty = async (some: Scope) => {
    const { heads, isAll } = await findSearched(reader, some);
    return heads.length === 0 && isAll;
  };
  const { networkId, schemaContext } = scope;
  if (await isEmpty({ ...scope, schemaContext: [] })) {
    const where = networkId === undefined ? 'here' : `in the network ${shorten(networkId)}`;
    const says = `Nothing is published ${where} right now.`;
    return { code: 'network-empty', says, path: '$.context.networkId' };
  }
  if (schemaContext.length === 0 || !(await isEmpty(scope))) return undefined;
  const says = 'Nothing is published with a schema context that the request names.';
  return { code: 'schema-unused', says, path: '$.context.schemaContext' };
}

/** Paths that treat the request as the root. `$` is its message. */
function findWrongRoots({ filter, spatial }: Plan): NearMiss[] {
  const code = 'wrong-root' as const;
  const selectors = filter?.filter.query.segments[0]?.selectors ?? [];
  const isWrong = selectors.some((selector) => selector.kind === 'name' && selector.name === 'message');
  const targets = spatial.flatMap(({ constraint }, index) => {
    const target = constraint.targets.find((each) => /^\$(\.message\b|\[['"]message['"]\])/.test(each));
    const path = `$.message.intent.spatial[${index}].targets`;
    return target ? [{ code, says: describeWrongRoot('The target', target), path }] : [];
  });
  const path = '$.message.intent.filters.expression';
  return [
    ...(isWrong ? [{ code, says: describeWrongRoot('The filter', '$.message'), path }] : []),
    ...targets,
  ];
}

function describeWrongRoot(what: string, written: string): string {
  return `${what} begins with ${shorten(written)}, but $ is the message itself: begin with $.catalogs[*].`;
}

/** Whether the same intent finds something if latitude and longitude are swapped. */
async function findSwapped(
  engine: SearchEngine,
  { message, scope, deadline, owner }: Missed,
  { filter, spatial }: Plan,
): Promise<NearMiss[]> {
  // S_DISJOINT matches from anywhere, so swapping proves nothing; and costly filters are not evaluated twice.
  const isUnfit = ({ constraint: { operator, quantifier }, isLarge }: SpatialPlan) =>
    operator === 'S_DISJOINT' || quantifier === 'NONE' || isLarge;
  if (spatial.length === 0 || spatial.some(isUnfit) || (filter && !filter.exact && !filter.cheap)) return [];
  const { intent } = message;
  const swapped = intent.spatial?.map((entry) => ({ ...entry, geometry: swapAxes(entry.geometry) })) ?? [];
  if (swapped.some(({ geometry }) => findGeometryFault(geometry) !== undefined)) return [];
  const asked = { intent: { ...intent, spatial: swapped }, limit: 1 };
  const { answer } = await evaluateIntent(engine, { message: asked, scope }, { deadline, owner });
  if (answer.resourceCount === 0) return [];
  const says =
    'There are matches if longitude and latitude are swapped: coordinates are [longitude, latitude].';
  const path = '$.message.intent.spatial[0].geometry.coordinates';
  return [{ code: 'swapped-coordinates', says, path }];
}

/** The intended geometry if latitude was written before longitude. It may be invalid: no latitude is beyond 90. */
function swapAxes(geometry: Geometry): Geometry {
  if (geometry.type === 'GeometryCollection')
    return { ...geometry, geometries: geometry.geometries.map(swapAxes) };
  return { ...geometry, coordinates: swap(geometry.coordinates as Json) } as Geometry;
}

function swap(value: Json): Json {
  if (!Array.isArray(value)) return value;
  const [first, second, ...rest] = value;
  return typeof first === 'number' ? [second as Json, first, ...rest] : value.map(swap);
}
