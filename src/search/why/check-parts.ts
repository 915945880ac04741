import type { Json } from '../../protocol/json.ts';
import { findFailedConditions } from '../../rules/filters/describe-condition.ts';
import type { Form } from '../../rules/text/forms.ts';
import { selectByCatalogs } from '../filter/evaluate-filter.ts';
import type { FilterPlan } from '../filter/plan.ts';
import type { Hit } from '../hit.ts';
import type { Plan } from '../plan.ts';
import type { SpatialPlan } from '../spatial/constraint.ts';
import { openPlace } from '../spatial/place.ts';
import { openText } from '../text/text-search.ts';
import type { Tools } from '../tools.ts';
import type { IndexedResource } from './asked-resource.ts';

// The parts of an intent, held against one resource, with what stands in it instead.

export interface Check {
  check: 'indexed' | 'served' | 'network' | 'schema' | 'validity' | 'filter' | 'spatial' | 'text' | 'limit';
  ok: boolean;
  /** A sentence. */
  detail: string;
  /** The actual value. */
  got?: unknown;
}

const maxWords = 10;
/** Nothing on the earth is farther away. */
const anywhereMeters = 20_100_000;

export async function checkFilter(
  tools: Tools,
  filter: FilterPlan,
  { key, document }: IndexedResource,
): Promise<Check> {
  const check = 'filter';
  const [selected] = await selectByCatalogs(tools, filter)(Float64Array.of(key));
  if (selected !== undefined) return { check, ok: true, detail: 'The filter selects it.' };
  // Conditions that may take long on one document are not evaluated on this thread.
  const failed = filter.cheap && findFailedConditions(filter.filter.query, JSON.parse(document));
  if (!failed || failed.length === 0) return { check, ok: false, detail: selectsNothing };
  const conditions = failed.map(({ condition }) => condition).join(' and ');
  const got = Object.assign({}, ...failed.map((each) => each.got));
  const detail = `${conditions} ${failed.length === 1 ? 'does' : 'do'} not hold: ${describeValues(got)}.`;
  return { check, ok: false, detail, got };
}

const selectsNothing =
  'The filter selects neither it, nor an offer of its catalog on it, nor its catalog. Offers of other catalogs are attached, not searched.';

function describeValues(got: Record<string, Json>): string {
  const values = Object.entries(got).map(([path, value]) =>
    value === null ? `nothing stands at ${path}` : `${path} is ${JSON.stringify(value)}`,
  );
  return values.join(', ') || 'it compares no member of the resource';
}

export async function checkSpatial(tools: Tools, spatial: SpatialPlan, key: number): Promise<Check> {
  const { constraint } = spatial;
  const { operator, quantifier, targets, distanceMeters } = constraint;
  const hits = await holdAgainst(tools, spatial, key);
  const anywhere = { operator: 'S_DWITHIN', quantifier: 'ANY', distanceMeters: anywhereMeters } as const;
  const around = await holdAgainst(tools, { ...spatial, constraint: { ...constraint, ...anywhere } }, key);
  const meters = around?.distance;
  const far = meters === undefined ? '' : ` It is ${describeDistance(meters)} away.`;
  const asked = `${operator}${quantifier === 'ANY' ? '' : ` (${quantifier})`}${
    distanceMeters === undefined ? '' : ` ${describeDistance(distanceMeters)}`
  }`;
  const got = meters === undefined ? {} : { got: { distanceMeters: Math.round(meters) } };
  if (hits) return { check: 'spatial', ok: true, detail: `${asked} holds.${far}`, ...got };
  const detail = around
    ? `${asked} does not hold.${far}`
    : `It has no geometry at ${targets.join(' or ')}, nor has its provider or an offer of its catalog on it.`;
  return { check: 'spatial', ok: false, detail, ...got };
}

async function holdAgainst(tools: Tools, spatial: SpatialPlan, key: number): Promise<Hit | undefined> {
  const { check } = await openPlace(tools, [spatial], { isBesideOthers: true, countUpTo: 1 });
  return (await check(Float64Array.of(key)))[0];
}

function describeDistance(meters: number): string {
  return meters < 1_000 ? `${Math.round(meters)} m` : `${(meters / 1_000).toFixed(1)} km`;
}

/** One word is enough to be found. */
export async function checkText(tools: Tools, plan: Plan, key: number): Promise<Check> {
  const search = await openText(tools, plan);
  const rank = (await search.rank(Float64Array.of(key)))[0]?.rank;
  const found = await search.wordsOf(key);
  const words = plan.format.tokenizer.query(plan.text ?? '').slice(0, maxWords);
  const detail =
    rank !== undefined
      ? `It has the words ${found.slice(0, maxWords).map(describeWord).join(', ')}. Its rank is ${rank.toFixed(2)}.`
      : `Neither it, nor its catalog, provider or an offer of its catalog on it have one of the words ${words.join(', ')}, or a form of one. Offers of other catalogs are attached, not searched.`;
  return { check: 'text', ok: rank !== undefined, detail, got: found.map(({ word }) => word) };
}

function describeWord({ word, found, form }: { word: string; found: string; form: Form }): string {
  return form === 'exact' ? word : `${word} (${form}: ${found})`;
}
