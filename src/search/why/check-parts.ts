import type { Json } from '../../protocol/json.ts';
import { findFailedConditions } from '../../rules/filters/describe-condition.ts';
import type { Form } from '../../rules/text/forms.ts';
import type { TextQuery } from '../../rules/text/rank.ts';
import { matchSubjects } from '../confirm/match-subjects.ts';
import type { Subject } from '../confirm/read-subjects.ts';
import { selectByCatalogs } from '../filter/evaluate-filter.ts';
import type { FilterPlan } from '../filter/plan.ts';
import type { Plan } from '../plan.ts';
import type { SpatialPlan } from '../spatial/constraint.ts';
import type { Tools } from '../tools.ts';
import type { IndexedResource } from './asked-resource.ts';

// Compares the parts of an intent with one resource, and shows its actual values.

export interface Check {
  check: 'indexed' | 'served' | 'network' | 'schema' | 'validity' | 'filter' | 'spatial' | 'text' | 'limit';
  ok: boolean;
  /** A sentence. */
  detail: string;
  /** The actual value. */
  got?: unknown;
}

const maxWords = 10;
/** Farther than any two places on the earth. */
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
  const detail = `${conditions} ${failed.length === 1 ? 'is' : 'are'} not satisfied: ${describeValues(got)}.`;
  return { check, ok: false, detail, got };
}

const selectsNothing =
  'The filter selects neither it, nor an offer of its catalog on it, nor its catalog. Offers of other catalogs are attached, not searched.';

function describeValues(got: Record<string, Json>): string {
  const values = Object.entries(got).map(([path, value]) =>
    value === null ? `there is no value at ${path}` : `${path} is ${JSON.stringify(value)}`,
  );
  return values.join(', ') || 'it compares no member of the resource';
}

export async function checkSpatial(tools: Tools, plan: Plan, spatial: SpatialPlan, subject: Subject) {
  const { constraint } = spatial;
  const { operator, quantifier, targets, distanceMeters } = constraint;
  const hits = await holdAgainst(tools, plan, spatial, subject);
  const anywhere = { operator: 'S_DWITHIN', quantifier: 'ANY', distanceMeters: anywhereMeters } as const;
  const everywhere = { ...spatial, constraint: { ...constraint, ...anywhere } };
  const around = await holdAgainst(tools, plan, everywhere, subject);
  const meters = around?.distance;
  const far = meters === undefined ? '' : ` It is ${describeDistance(meters)} away.`;
  const asked = `${operator}${quantifier === 'ANY' ? '' : ` (${quantifier})`}${
    distanceMeters === undefined ? '' : ` ${describeDistance(distanceMeters)}`
  }`;
  const got = meters === undefined ? {} : { got: { distanceMeters: Math.round(meters) } };
  const check = 'spatial' as const;
  if (hits) return { check, ok: true, detail: `${asked} is satisfied.${far}`, ...got };
  const detail = around
    ? `${asked} is not satisfied.${far}`
    : `It has no geometry at ${targets.join(' or ')}, nor has its provider or an offer of its catalog on it.`;
  return { check, ok: false, detail, ...got };
}

async function holdAgainst(tools: Tools, { format }: Plan, spatial: SpatialPlan, subject: Subject) {
  const [hit] = await matchSubjects(tools, { format, spatial: [spatial] }, undefined, [subject]);
  return hit;
}

function describeDistance(meters: number): string {
  return meters < 1_000 ? `${Math.round(meters)} m` : `${(meters / 1_000).toFixed(1)} km`;
}

/** One matching word is enough. */
export async function checkText(
  tools: Tools,
  plan: Plan,
  query: TextQuery,
  subject: Subject,
): Promise<Check> {
  const rankBy = async (asked: TextQuery) => {
    const [hit] = await matchSubjects(tools, { format: plan.format, spatial: [] }, asked, [subject]);
    return hit?.rank;
  };
  const rank = await rankBy(query);
  const found: { word: string; found: string; form: Form }[] = [];
  for (const { word, rarity, variants } of rank === undefined ? [] : query.words)
    for (const variant of [...variants].sort((a, b) => b.weight - a.weight)) {
      if ((await rankBy({ words: [{ word, rarity, variants: [variant] }] })) === undefined) continue;
      found.push({ word, found: variant.word, form: variant.form });
      break;
    }
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
