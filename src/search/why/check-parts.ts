import type { Json } from '../../protocol/json.ts';
import { findFailedConditions } from '../../rules/filters/describe-condition.ts';
import { queryWords } from '../../rules/text/words.ts';
import type { Search } from '../candidates.ts';
import { selectByCatalogs } from '../filter/check.ts';
import { keysOf } from '../lists/key-sets.ts';
import type { SpatialPlan } from '../plan.ts';
import { prepareSpatial } from '../spatial/spatial-search.ts';
import { prepareText } from '../text/text-search.ts';
import type { IndexedResource } from './asked-resource.ts';

// The parts of an intent, held against one resource, with what stands in it instead.

export type CheckName =
  | 'indexed'
  | 'served'
  | 'network'
  | 'schema'
  | 'validity'
  | 'filter'
  | 'spatial'
  | 'text'
  | 'limit';

export interface Check {
  check: CheckName;
  ok: boolean;
  /** A sentence. */
  detail: string;
  /** What was found instead. */
  got?: unknown;
}

const maxWords = 10;
/** Nothing on the earth is farther away. */
const anywhereMeters = 20_100_000;

export async function checkFilter(search: Search, { key, document }: IndexedResource): Promise<Check[]> {
  const { filter } = search.plan;
  if (filter === undefined) return [];
  const [selected] = await selectByCatalogs(search)([key]);
  if (selected !== undefined) return [{ check: 'filter', ok: true, detail: 'The filter selects it.' }];
  const resource: Json = JSON.parse(document);
  // Conditions that may take long on one document are not evaluated on this thread.
  const failed = filter.cheap ? findFailedConditions(filter.filter.query, resource) : undefined;
  const [first] = failed ?? [];
  if (failed === undefined || first === undefined)
    return [
      {
        check: 'filter',
        ok: false,
        detail: 'The filter selects neither it, nor an offer on it, nor its catalog.',
      },
    ];
  const conditions = failed.map(({ condition }) => condition).join(' and ');
  const got = Object.assign({}, ...failed.map((each) => each.got));
  const detail = `${conditions} ${failed.length === 1 ? 'does' : 'do'} not hold: ${describeValues(got)}.`;
  return [{ check: 'filter', ok: false, detail, got }];
}

function describeValues(got: Record<string, Json>): string {
  const values = Object.entries(got).map(([path, value]) =>
    value === null ? `nothing stands at ${path}` : `${path} is ${JSON.stringify(value)}`,
  );
  return values.join(', ') || 'it compares no member of the resource';
}

/** One check for each constraint. */
export async function checkSpatial(search: Search, resource: IndexedResource): Promise<Check[]> {
  const checks: Check[] = [];
  for (const spatial of search.plan.spatial) checks.push(await checkConstraint(search, spatial, resource));
  return checks;
}

async function checkConstraint(
  search: Search,
  spatial: SpatialPlan,
  { key }: IndexedResource,
): Promise<Check> {
  const { constraint } = spatial;
  const { operator, quantifier, targets, distanceMeters } = constraint;
  const hits = await holdAgainst(search, spatial, key);
  const anywhere = { operator: 'S_DWITHIN', quantifier: 'ANY', distanceMeters: anywhereMeters } as const;
  const around = await holdAgainst(search, { ...spatial, constraint: { ...constraint, ...anywhere } }, key);
  const meters = around?.distance;
  const far = meters === undefined ? '' : ` It is ${describeDistance(meters)} away.`;
  const asked = `${operator}${quantifier === 'ANY' ? '' : ` (${quantifier})`}${
    distanceMeters === undefined ? '' : ` ${describeDistance(distanceMeters)}`
  }`;
  const got = meters === undefined ? {} : { got: { distanceMeters: Math.round(meters) } };
  if (hits) return { check: 'spatial', ok: true, detail: `${asked} holds.${far}`, ...got };
  const detail = around
    ? `${asked} does not hold.${far}`
    : `It has no geometry at ${targets.join(' or ')}, nor has its provider or an offer on it.`;
  return { check: 'spatial', ok: false, detail, ...got };
}

async function holdAgainst(search: Search, spatial: SpatialPlan, key: number) {
  const alone: Search = { ...search, plan: { ...search.plan, spatial: [spatial] } };
  const { check } = await prepareSpatial(alone, { isCounted: false });
  return (await check([key]))[0];
}

function describeDistance(meters: number): string {
  return meters < 1_000 ? `${Math.round(meters)} m` : `${(meters / 1_000).toFixed(1)} km`;
}

/** One word is enough to be found. */
export async function checkText(search: Search, { key }: IndexedResource): Promise<Check[]> {
  const { text } = search.plan;
  if (text === undefined) return [];
  const words = queryWords(text).slice(0, maxWords);
  const has = async (asked: string) => {
    const { rank } = await prepareText(search, asked);
    return (await rank(keysOf([key]))).keys.length > 0;
  };
  const ok = await has(text);
  const found: string[] = [];
  for (const word of words) if (await has(word)) found.push(word);
  const detail = ok
    ? `It has the words ${found.join(', ')}.`
    : `Neither it, nor its catalog, provider or offers have one of the words ${words.join(', ')}, also with typing errors forgiven.`;
  return [{ check: 'text', ok, detail, got: found }];
}
